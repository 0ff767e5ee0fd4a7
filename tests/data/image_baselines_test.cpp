#include <xtape/data/image_baselines.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

/// Images of 1 x 2 pixels, the brightest 4.
ImageSet pairs(std::vector<std::uint8_t> pixels, std::vector<index_t> labels) {
  return {1, 2, 4, std::move(pixels), std::move(labels)};
}

}  // namespace

TEST_CASE("image baselines: the class of the nearest mean image, the label of the nearest image") {
  // Class 3 has its mean at (2, 0), class 7 at (2, 4); the image of class 3 at (4, 0) is alone there.
  const ImageSet train = pairs({0, 0, 4, 0, 2, 4}, {3, 3, 7});
  const Array images = array({4, 2}, {0, 0.25, 1, 0.75, 0.5, 0.25, 0.5, 1});
  CHECK(nearest_neighbor(train)(images) == std::vector<index_t>{3, 7, 3, 7});
  CHECK(nearest_class_mean(train)(images) == std::vector<index_t>{0, 7, 3, 7});  // (0, 1) is nearest to black
  CHECK(nearest_neighbor(pairs({4, 4, 0, 0, 0, 0}, {1, 5, 2}))(array({1, 2}, {0, 0})) == std::vector<index_t>{5});
  check_throws<ShapeError>([&] { nearest_neighbor(train)(array({1, 3}, {0, 0, 0})); }, "[matmul]");
}

TEST_CASE("image baselines: accuracy looks at every image once, at most 100 at a time") {
  ImageSet set = pairs({}, {});
  for (int i = 0; i < 250; ++i) {
    set.pixels.insert(set.pixels.end(), {static_cast<std::uint8_t>(i % 4), 4});
    set.labels.push_back(i % 4);
  }
  std::vector<std::size_t> sizes;
  const auto by_pixel = [&](const Array& images) {
    std::vector<index_t> out;
    for (std::size_t i = 0; i < images.shape()[0]; ++i) out.push_back(static_cast<index_t>(images(i, 0) * 4));
    sizes.push_back(out.size());
    return out;
  };
  CHECK(accuracy(set, by_pixel) == 1);
  CHECK(sizes == std::vector<std::size_t>{100, 100, 50});
  CHECK(accuracy(set, [](const Array& images) { return std::vector<index_t>(images.shape()[0], 1); }) == 63.0 / 250);
  check_throws<ValueError>([&] { accuracy(pairs({}, {}), by_pixel); }, "[accuracy] expected at least 1 image, got 0");
  check_throws<ValueError>([&] { accuracy(set, [](const Array&) { return std::vector<index_t>{1}; }); },
                           "[accuracy] expected 100 labels, got 1");
}
