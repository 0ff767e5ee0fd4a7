#include <xtape/core/error.hpp>
#include <xtape/core/random.hpp>
#include <xtape/data/csv.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/idx.hpp>
#include <xtape/data/images.hpp>
#include <xtape/data/sequences.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace xtape {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw FileError("images", path + ": " + what);
}

/// The tensor of an IDX file. It must hold bytes, have the given number of axes and not be empty.
const StoredTensor& checked(const IdxFile& file, index_t axes, const char* meaning) {
  const StoredTensor& tensor = file.tensor();
  if (tensor.dtype != DType::u8 || tensor.shape.rank() != axes || tensor.bytes.empty())
    fail(tensor.name,
         expected_got(meaning, std::string(dtype_name(tensor.dtype)) + " of shape " + shape_text(tensor.shape)));
  return tensor;
}

void append(ImageSet& to, const ImageSet& from, index_t item) {
  const std::uint8_t* const pixels = from.pixels_of(item);
  to.pixels.insert(to.pixels.end(), pixels, pixels + from.height * from.width);
  to.labels.push_back(from.labels[item]);
}

/// The selected images, in the given order.
ImageSet chosen(const ImageSet& from, const index_t* begin, const index_t* end) {
  ImageSet out{from.height, from.width, from.brightest, {}, {}};
  for (const index_t* item = begin; item != end; ++item) append(out, from, *item);
  return out;
}

/// The path of a file, compressed or not. Throws FileError, which names both.
std::string packed_or_not(const std::filesystem::path& path) {
  std::string plain = path.string(), packed = plain + ".gz";
  if (std::filesystem::exists(plain)) return plain;
  if (std::filesystem::exists(packed)) return packed;
  fail(plain, "there is no such file, nor " + packed);
}

}  // namespace

const std::uint8_t* ImageSet::pixels_of(index_t item) const {
  check_index("images", "items", item, 0, size() - 1);
  return pixels.data() + item * height * width;
}

ImageSet read_idx_images(const std::string& images_path, const std::string& labels_path) {
  const IdxFile images(images_path), labels(labels_path);
  const StoredTensor& pixels = checked(images, 3, "images [N, H, W] of bytes");
  const StoredTensor& classes = checked(labels, 1, "labels [N] of bytes");
  if (pixels.shape[0] != classes.shape[0])
    fail(labels_path,
         expected_got(std::to_string(pixels.shape[0]) + " labels for the images of " + images_path, classes.shape[0]));
  ImageSet out{pixels.shape[1], pixels.shape[2], 255, {pixels.bytes.begin(), pixels.bytes.end()}, {}};
  for (std::size_t i = 0; i < classes.bytes.size(); ++i) {
    out.labels.push_back(static_cast<unsigned char>(classes.bytes[i]));
    if (out.labels.back() >= ImageData::kClasses)
      fail(labels_path, expected_got("label " + std::to_string(i) + " in 0..9", out.labels.back()));
  }
  return out;
}

ImageSet read_csv_images(const std::string& path, index_t height, index_t width, int brightest) {
  const CsvTable table = load_csv(path, {.header = false});
  const index_t pixels = height * width;
  if (table.columns() != pixels + 1)
    fail(path, expected_got("columns of " + std::to_string(pixels) + " pixels and a label", table.columns()));
  ImageSet out{height, width, brightest, {}, {}};
  for (index_t row = 0; row < table.rows(); ++row) {
    for (index_t i = 0; i < pixels; ++i)
      out.pixels.push_back(static_cast<std::uint8_t>(table.integer(row, i, 0, brightest)));
    out.labels.push_back(table.integer(row, pixels, 0, ImageData::kClasses - 1));
  }
  return out;
}

ImageData::ImageData(ImageSet train, ImageSet validation, ImageSet test, std::uint64_t seed)
    : train_(std::move(train)), validation_(std::move(validation)), test_(std::move(test)), seed_(seed) {
  for (const ImageSet* set : {&validation_, &test_})
    if (set->height != train_.height || set->width != train_.width)
      throw ValueError(
          "image_data",
          "images of " + std::to_string(train_.height) + " by " + std::to_string(train_.width) + " as for training",
          set->height, set->width);
  if (train_.size() == 0 || validation_.size() == 0 || test_.size() == 0)
    throw ValueError("image_data", "images for training, validation and test", train_.size(), validation_.size(),
                     test_.size());
}

ImageData ImageData::split(const ImageSet& all, double validation_share, double test_share, std::uint64_t seed) {
  if (!(validation_share > 0) || !(test_share > 0) || !(validation_share + test_share < 1))
    throw ValueError("image_data", "positive shares of validation and test that are below 1 together", validation_share,
                     test_share);
  const index_t count = all.size();
  const std::vector<index_t> order = shuffled(count, seed, stream_id("image_split"));
  const auto part = [&](double share) { return static_cast<index_t>(share * static_cast<double>(count)); };
  const index_t *const test = order.data(), *const validation = test + part(test_share),
                       *const train = validation + part(validation_share);
  return {chosen(all, train, order.data() + count), chosen(all, validation, train), chosen(all, test, validation),
          seed};
}

std::vector<index_t> ImageData::train_items(index_t step, index_t batch) const {
  const index_t count = train_.size();
  if (step < 0 || batch < 1 || batch > count)
    throw ValueError("image_data", "a step of at least 0 with a batch of 1 to " + std::to_string(count), step, batch);
  const index_t epoch = step / (count / batch), first = step % (count / batch) * batch;
  if (epoch != epoch_) {
    order_ = shuffled(count, seed_, substream(stream_id("image_batches"), static_cast<std::uint64_t>(epoch)));
    epoch_ = epoch;
  }
  return {order_.begin() + first, order_.begin() + first + batch};
}

ImageData load_digits(const std::string& path, std::uint64_t seed) {
  return ImageData::split(read_csv_images(find_data(path), 8, 8, 16), 0.1, 0.2, seed);
}

ImageData load_mnist(const std::string& directory, std::uint64_t seed) {
  const std::filesystem::path place = find_data(directory);
  const auto read = [&](const std::string& side) {
    const std::string images = packed_or_not(place / (side + "-images-idx3-ubyte"));
    return read_idx_images(images, packed_or_not(place / (side + "-labels-idx1-ubyte")));
  };
  const ImageSet all = read("train");
  std::vector<index_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  const index_t *const begin = order.data(), *const end = begin + order.size(), *const border = end - order.size() / 10;
  return {chosen(all, begin, border), chosen(all, border, end), read("t10k"), seed};
}

}  // namespace xtape
