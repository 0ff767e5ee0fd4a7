// Small gray images with class labels, as training data for a classifier: the 8x8 digits, MNIST.
#pragma once

#include <xtape/core/shape.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xtape {

/// N images of H x W pixels.
struct ImageSet {
  index_t height = 0, width = 0;
  int brightest = 255;               ///< the value of full brightness
  std::vector<std::uint8_t> pixels;  ///< [N, H, W], 0..brightest
  std::vector<index_t> labels;       ///< [N], 0..9

  index_t size() const { return std::ssize(labels); }
  /// The pixels [H, W] of one image. Throws IndexError for an index outside the set.
  const std::uint8_t* pixels_of(index_t item) const;
};

/// Reads images from two IDX files as those of MNIST, gzip-compressed or not. Throws FileError unless they are unsigned
/// bytes of shapes [N, H, W] and [N], with N, H and W at least 1 and labels below 10.
ImageSet read_idx_images(const std::string& images, const std::string& labels);

/// Reads images from CSV without a header. Each row holds the pixels, 0..brightest, then the label. Throws FileError,
/// which names the line, for a wrong value, an empty file or a number of columns other than height * width + 1.
ImageSet read_csv_images(const std::string& path, index_t height, index_t width, int brightest);

/// Images for training, validation and test.
class ImageData {
 public:
  ImageData(ImageSet train, ImageSet validation, ImageSet test, std::uint64_t seed);

  /// Splits one set at random, by the seed only: the given shares are for validation and test, the rest for training.
  /// Throws ValueError if a share is outside 0..1 or a part is empty.
  static ImageData split(const ImageSet& all, double validation_share, double test_share, std::uint64_t seed);

  const ImageSet& train() const { return train_; }
  const ImageSet& validation() const { return validation_; }
  const ImageSet& test() const { return test_; }
  index_t pixels() const { return train_.height * train_.width; }
  static constexpr index_t kClasses = 10;

  /// The training images of a step. Each image is used at most once an epoch, in random order; the images left over
  /// after the last full batch are not used in that epoch. Depends on (seed, step) only. Throws ValueError for a
  /// negative step, or a batch below 1 or above the number of training images.
  std::vector<index_t> train_items(index_t step, index_t batch) const;

 private:
  ImageSet train_, validation_, test_;
  std::uint64_t seed_;
  mutable index_t epoch_ = -1;  // the epoch of the cached order
  mutable std::vector<index_t> order_;
};

/// The 8x8 digits: 1797 images from CSV with pixels 0..16, found by find_data. 20 % are for test, 10 % for validation.
ImageData load_digits(const std::string& path, std::uint64_t seed);

/// MNIST from its four files in a directory, compressed (.gz) or not: train-images-idx3-ubyte, train-labels-idx1-ubyte,
/// t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte. The last tenth of the training images is for validation.
ImageData load_mnist(const std::string& directory, std::uint64_t seed);

inline namespace XTAPE_DTYPE {

struct ImageBatch {
  Array images;       ///< [B, H * W], 0..1
  IndexArray labels;  ///< [B]
};

/// The given images of a set. Throws IndexError for an index outside the set.
inline ImageBatch image_batch(const ImageSet& set, const std::vector<index_t>& items) {
  const index_t pixels = set.height * set.width;
  ImageBatch out{empty_array({std::ssize(items), pixels}), empty_array<IndexArray>({std::ssize(items)})};
  for (index_t b = 0; b < std::ssize(items); ++b) {
    const std::uint8_t* const from = set.pixels_of(items[b]);
    for (index_t i = 0; i < pixels; ++i)
      out.images.data()[b * pixels + i] = static_cast<real>(from[i]) / static_cast<real>(set.brightest);
    out.labels.data()[b] = set.labels[items[b]];
  }
  return out;
}

}  // namespace XTAPE_DTYPE
}  // namespace xtape
