#include <xtape/data/images.hpp>

#include "gzip_files.hpp"
#include "idx_files.hpp"
#include "support.hpp"
#include "temporary_files.hpp"

#include <set>

using namespace xtape;
using namespace xtape::test;

namespace {

/// `count` images of 2 x 3 pixels; all pixels of image i are i, its label is i % 10.
std::string images_file(unsigned count) {
  std::string pixels;
  for (unsigned i = 0; i < count; ++i) pixels.append(6, static_cast<char>(i));
  return idx_file(0x08, {count, 2, 3}, pixels);
}
std::string labels_file(unsigned count) {
  std::string labels;
  for (unsigned i = 0; i < count; ++i) labels += static_cast<char>(i % 10);
  return idx_file(0x08, {count}, labels);
}

ImageSet numbered(std::size_t count) {
  ImageSet set{1, 1, 255, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    set.pixels.push_back(static_cast<std::uint8_t>(i));
    set.labels.push_back(static_cast<index_t>(i % 10));
  }
  return set;
}

/// A line of 64 pixels of the same value, and a label.
std::string digit(const std::string& pixel, const std::string& label) {
  std::string line;
  for (int i = 0; i < 64; ++i) line += pixel + ",";
  return line + label + "\n";
}

}  // namespace

TEST_CASE("images from IDX: bytes from 0 to 1, none negative") {
  const TemporaryDirectory work;
  const ImageSet set =
      read_idx_images(work.write("images", packed(images_file(256))), work.write("labels", labels_file(256)));
  CHECK(set.size() == 256);
  const ImageBatch batch = image_batch(set, {255, 0, 51});
  check_equal(batch.images, array({3, 6}, {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, real(0.2), real(0.2), real(0.2),
                                           real(0.2), real(0.2), real(0.2)}));
  CHECK(batch.labels == indices({3}, {5, 0, 1}));
  check_throws<IndexError>([&] { image_batch(set, {256}); }, "expected items in 0..255, got 256");
  check_throws<IndexError>([&] { image_batch(set, {-1}); }, "expected items in 0..255, got -1");
}

TEST_CASE("images from IDX: labels for images, another number of them, and labels that are none") {
  const TemporaryDirectory work;
  const std::string images = work.write("images", images_file(10)), labels = work.write("labels", labels_file(10));
  check_throws<FileError>([&] { read_idx_images(labels, labels); },
                          "labels: expected images [N, H, W] of bytes, got U8 of shape (10)");
  check_throws<FileError>([&] { read_idx_images(images, images); },
                          "expected labels [N] of bytes, got U8 of shape (10,2,3)");
  check_throws<FileError>([&] { read_idx_images(work.write("none", images_file(0)), labels); }, "of shape (0,2,3)");
  check_throws<FileError>([&] { read_idx_images(images, work.write("nine", labels_file(9))); },
                          "expected 10 labels for the images of ");
  check_throws<FileError>(
      [&] { read_idx_images(images, work.write("eleven", idx_file(0x08, {10}, "\1\1\1\1\1\1\1\1\1\xA"))); },
      "expected label 9 in 0..9, got 10");
  check_throws<FileError>(
      [&] { read_idx_images(work.write("floats", idx_file(0x0D, {1, 1, 1}, std::string(4, '\0'))), labels); },
      "got F32 of shape (1,1,1)");
}

TEST_CASE("images from CSV: the line and column of what is wrong") {
  const TemporaryDirectory work;
  const auto read = [&](const std::string& text) { return read_csv_images(work.write("digits.csv", text), 8, 8, 16); };
  const ImageSet set = read(packed(digit("16", "3") + digit("0", "9")));
  CHECK(set.labels == std::vector<index_t>{3, 9});
  CHECK(set.pixels.size() == 128);
  CHECK(image_batch(set, {0}).images(0, 63) == 1);
  check_throws<FileError>([&] { read(digit("1", "1") + digit("17", "1")); },
                          "digits.csv:2: column 1: expected a whole number from 0 to 16, got '17'");
  check_throws<FileError>([&] { read(digit("1", "10")); },
                          "digits.csv:1: column 65: expected a whole number from 0 to 9, got '10'");
  check_throws<FileError>([&] { read(digit("1", "2x")); },
                          "digits.csv:1: column 65: expected a whole number from 0 to 9, got '2x'");
  check_throws<FileError>([&] { read("1,2,3\n"); }, "expected columns of 64 pixels and a label, got 3");
  check_throws<FileError>([&] { read(""); }, "the table is empty");
}

TEST_CASE("image data: every image is on one side, and comes once an epoch") {
  const ImageData data = ImageData::split(numbered(200), 0.1, 0.2, 7);
  CHECK(data.test().size() == 40);
  CHECK(data.validation().size() == 20);
  CHECK(data.train().size() == 140);
  std::set<std::uint8_t> seen;
  for (const ImageSet* set : {&data.train(), &data.validation(), &data.test()})
    seen.insert(set->pixels.begin(), set->pixels.end());
  CHECK(seen.size() == 200);
  std::set<index_t> items;
  for (index_t step = 4; step < 8; ++step) {  // the second epoch of 4 batches of 35
    const std::vector<index_t> some = data.train_items(step, 35);
    CHECK(some.size() == 35);
    items.insert(some.begin(), some.end());
  }
  CHECK(items.size() == 140);
  CHECK(data.train_items(0, 35) != data.train_items(4, 35));
  const std::vector<index_t> later = data.train_items(6, 35);
  CHECK(ImageData::split(numbered(200), 0.1, 0.2, 7).train_items(6, 35) == later);
  CHECK(ImageData::split(numbered(200), 0.1, 0.2, 8).train_items(6, 35) != later);
  check_throws<ValueError>([&] { data.train_items(0, 141); },
                           "expected a step of at least 0 with a batch of 1 to 140, got 0 and 141");
  check_throws<ValueError>([&] { data.train_items(-1, 1); }, "got -1 and ");
  check_throws<ValueError>([&] { data.train_items(0, 0); }, "1 to 140, got 0 and 0");
  check_throws<ValueError>([] { ImageData::split(numbered(200), 0.5, 0.5, 0); }, "below 1 together");
  check_throws<ValueError>([] { ImageData::split(numbered(4), 0.1, 0.2, 0); },
                           "expected images for training, validation and test, got ");
  check_throws<ValueError>([] { ImageData(numbered(2), ImageSet{2, 1, 255, {0, 0}, {0}}, numbered(2), 0); },
                           "[image_data] expected images of ");
}

TEST_CASE("the digits and MNIST from their files") {
  const TemporaryDirectory work;
  std::string digits;
  for (int i = 0; i < 20; ++i) digits += digit(std::to_string(i % 17), std::to_string(i % 10));
  const ImageData small = load_digits(work.write("digits.csv.gz", packed(digits)), 0);
  CHECK(small.train().size() == 14);
  CHECK(small.pixels() == 64);

  check_throws<FileError>([&] { load_mnist(work.path(), 0); }, "-ubyte: there is no such file, nor ");
  work.write("train-images-idx3-ubyte.gz", packed(images_file(50)));
  work.write("train-labels-idx1-ubyte", labels_file(50));
  work.write("t10k-images-idx3-ubyte", images_file(8));
  work.write("t10k-labels-idx1-ubyte.gz", packed(labels_file(8)));
  const ImageData mnist = load_mnist(work.path(), 0);
  CHECK(mnist.train().size() == 45);
  CHECK(mnist.validation().labels == std::vector<index_t>{5, 6, 7, 8, 9});
  CHECK(mnist.test().size() == 8);
  CHECK(mnist.pixels() == 6);
  check_throws<FileError>([&] { load_mnist(work.path() + "/none", 0); }, "no such file");
}
