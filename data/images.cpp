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
const StoredTensor& checked(const IdxFile& file, std::size_t axes, const char* meaning) {
  const StoredTensor& tensor = file.tensor();
  if (tensor.dtype != DType::u8 || tensor.shape.size() != axes || tensor.bytes.empty())
    fail(tensor.name, std::string("these are not ") + meaning + " but " + std::string(dtype_name(tensor.dtype)) +
                          " of shape " + shape_text(tensor.shape));
  return tensor;
}

void append(ImageSet& to, const ImageSet& from, index_t item) {
  const std::uint8_t* const pixels = from.pixels_of(item);
  to.pixels.insert(to.pixels.end(), pixels, pixels + from.height * from.width);
  to.labels.push_back(from.labels[static_cast<std::size_t>(item)]);
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
  if (item < 0 || static_cast<std::size_t>(item) >= size())
    throw IndexError("images", "there is no image " + std::to_string(item) + " of " + std::to_string(size()));
  return pixels.data() + static_cast<std::size_t>(item) * height * width;
}

ImageSet read_idx_images(const std::string& images_path, const std::string& labels_path) {
  const IdxFile images(images_path), labels(labels_path);
  const StoredTensor& pixels = checked(images, 3, "images [N, H, W] of bytes");
  const StoredTensor& classes = checked(labels, 1, "labels [N] of bytes");
  if (pixels.shape[0] != classes.shape[0])
    fail(images_path, "there are " + std::to_string(pixels.shape[0]) + " images but " +
                          std::to_string(classes.shape[0]) + " labels in " + labels_path);
  ImageSet out{pixels.shape[1], pixels.shape[2], 255, {pixels.bytes.begin(), pixels.bytes.end()}, {}};
  for (std::size_t i = 0; i < classes.bytes.size(); ++i) {
    out.labels.push_back(static_cast<unsigned char>(classes.bytes[i]));
    if (out.labels.back() >= ImageData::kClasses)
      fail(labels_path, "label " + std::to_string(i) + " is " + std::to_string(out.labels.back()) + ", not 0 to 9");
  }
  return out;
}

ImageSet read_csv_images(const std::string& path, std::size_t height, std::size_t width, int brightest) {
  const CsvTable table = load_csv(path, {.header = false});
  const std::size_t pixels = height * width;
  if (table.columns() != pixels + 1)
    fail(path, "there are " + std::to_string(table.columns()) + " columns, not " + std::to_string(pixels) +
                   " pixels and a label");
  ImageSet out{height, width, brightest, {}, {}};
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t i = 0; i < pixels; ++i)
      out.pixels.push_back(static_cast<std::uint8_t>(table.integer(row, i, 0, brightest)));
    out.labels.push_back(table.integer(row, pixels, 0, ImageData::kClasses - 1));
  }
  return out;
}

ImageData::ImageData(ImageSet train, ImageSet validation, ImageSet test, std::uint64_t seed)
    : train_(std::move(train)), validation_(std::move(validation)), test_(std::move(test)), seed_(seed) {
  const auto size_of = [](const ImageSet& set) { return std::pair(set.height, set.width); };
  if (size_of(train_) != size_of(validation_) || size_of(train_) != size_of(test_))
    throw ValueError("image_data", "the images for training, validation and test differ in size");
  if (train_.size() == 0 || validation_.size() == 0 || test_.size() == 0)
    throw ValueError("image_data", "there are " + std::to_string(train_.size()) + " images for training, " +
                                       std::to_string(validation_.size()) + " for validation and " +
                                       std::to_string(test_.size()) + " for the test; none may be 0");
}

ImageData ImageData::split(const ImageSet& all, double validation_share, double test_share, std::uint64_t seed) {
  if (!(validation_share > 0) || !(test_share > 0) || !(validation_share + test_share < 1))
    throw ValueError("image_data", "the shares of validation and test must be above 0 and below 1 together");
  const auto count = static_cast<index_t>(all.size());
  const std::vector<index_t> order = shuffled(count, seed, stream_id("image_split"));
  const auto part = [&](double share) { return static_cast<index_t>(share * static_cast<double>(count)); };
  const index_t *const test = order.data(), *const validation = test + part(test_share),
                       *const train = validation + part(validation_share);
  return {chosen(all, train, order.data() + count), chosen(all, validation, train), chosen(all, test, validation),
          seed};
}

std::vector<index_t> ImageData::train_items(index_t step, index_t batch) const {
  const auto count = static_cast<index_t>(train_.size());
  if (step < 0 || batch < 1 || batch > count)
    throw ValueError("image_data", "step " + std::to_string(step) + " with " + std::to_string(batch) + " of " +
                                       std::to_string(count) + " training images is not possible");
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
