#include <xtape/core/error.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/matmul.hpp>
#include <xtape/core/ops/reduce.hpp>
#include <xtape/data/image_baselines.hpp>
#include <xtape/data/sequences.hpp>

#include <algorithm>
#include <numeric>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// 0, 1, ..., count - 1.
std::vector<index_t> numbers(index_t count) {
  std::vector<index_t> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// The mean image of each class [10, P].
Array class_means(const ImageBatch& all) {
  const index_t pixels = shape_of(all.images)[1];
  std::vector<double> sums(ImageData::kClasses * pixels), counts(ImageData::kClasses);
  for (index_t n = 0; n < numel(all.labels); ++n) {
    const index_t label = all.labels.data()[n];
    ++counts[label];
    for (index_t i = 0; i < pixels; ++i)
      sums[label * pixels + i] += static_cast<double>(all.images.data()[n * pixels + i]);
  }
  Array means = empty_array({ImageData::kClasses, pixels});
  for (index_t i = 0; i < numel(means); ++i)
    means.data()[i] = static_cast<real>(sums[i] / std::max(counts[i / pixels], 1.0));
  return means;
}

/// Gives each image the label of the nearest reference; references [N, P], N labels.
ImageClassifier nearest(Array references, std::vector<index_t> labels) {
  const Tensor r(std::move(references));
  // |x - r|^2 = |x|^2 - 2 (x.r - |r|^2 / 2): the nearest r has the largest x.r - |r|^2 / 2.
  const Tensor half_squares = sum(r * r, {1}) * real(0.5);
  return [r, half_squares, labels = std::move(labels)](const Array& images) {
    std::vector<index_t> out;
    for (index_t place : argmax(matmul(Tensor(images), r, {.transpose_b = true}) - half_squares, 1))
      out.push_back(labels[place]);
    return out;
  };
}

ImageBatch whole(const ImageSet& set) { return image_batch(set, numbers(set.size())); }

}  // namespace

ImageClassifier nearest_class_mean(const ImageSet& train) {
  return nearest(class_means(whole(train)), numbers(ImageData::kClasses));
}

ImageClassifier nearest_neighbor(const ImageSet& train) { return nearest(whole(train).images, train.labels); }

double accuracy(const ImageSet& set, const ImageClassifier& classify) {
  if (set.size() == 0) throw ValueError("accuracy", "at least 1 image", 0);
  index_t right = 0;
  for (const std::vector<index_t>& items : groups_of(100, numbers(set.size()))) {
    const ImageBatch batch = image_batch(set, items);
    const std::vector<index_t> guesses = classify(batch.images);
    if (guesses.size() != batch.labels.size())
      throw ValueError("accuracy", std::to_string(batch.labels.size()) + " labels", guesses.size());
    for (std::size_t i = 0; i < guesses.size(); ++i) right += guesses[i] == batch.labels.data()[i];
  }
  return static_cast<double>(right) / static_cast<double>(set.size());
}

}  // namespace xtape::inline XTAPE_DTYPE
