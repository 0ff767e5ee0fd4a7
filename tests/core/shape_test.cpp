// Arithmetic on shapes: element counts without overflow, axes, broadcasting.
#include "support.hpp"

#include <limits>
#include <type_traits>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("element counts are 64-bit and checked for overflow") {
  CHECK(element_count({}) == 1);
  CHECK(element_count({4740, 840, 840}) == 3344544000);
  CHECK(element_count({65536, 65536}) == 4294967296);
  const index_t one = 1, most = std::numeric_limits<index_t>::max();
  CHECK(element_count({one << 46}) == one << 46);
  CHECK(element_count({one << 62, 0, one << 62}) == 0);
  for (const Shape& shape : {Shape{2, 2, 1, one << 61}, Shape{(one << 59) + 1}, Shape{one << 32, one << 32},
                             Shape{most, most}, Shape{3, most / 3 + 1}, Shape{(one << 46) + 1}})
    check_throws<ShapeError>([&] { (void)element_count(shape, "load"); },
                             "[load] expected at most 2^46 elements, got " + shape_text(shape));
}

TEST_CASE("negative sizes are refused where an array is made") {
  const Shape shape = {2, -3};
  check_throws<ShapeError>([&] { (void)element_count(shape, "op"); }, "[op] expected sizes of at least 0, got (2,-3)");
  check_throws<ShapeError>([&] { (void)element_count({0, -3}, "op"); },
                           "[op] expected sizes of at least 0, got (0,-3)");
  check_throws<ShapeError>([&] { (void)Tensor::zeros(shape); }, "[tensor] expected sizes of at least 0, got (2,-3)");
  check_throws<ShapeError>([&] { (void)empty_array(shape); }, "[shape] expected sizes of at least 0, got (2,-3)");
  check_throws<ShapeError>([&] { (void)empty_array<Mask>(shape); }, "[shape] expected sizes of at least 0, got (2,-3)");
  check_throws<ShapeError>([&] { (void)full_array<IndexArray>(shape, 1); }, "[shape] expected sizes of at least 0");
}

TEST_CASE("a Shape holds any number of sizes, and converts from and to those of an array") {
  Shape shape;
  for (index_t rank = 0; rank < 15; ++rank) {
    CHECK(shape.rank() == rank);
    CHECK(shape.end() - shape.begin() == rank);
    for (index_t i = 0; i < rank; ++i) CHECK(shape[i] == i + 1);
    if (rank > 0) CHECK(shape.back() == rank);
    const Shape copy = shape, back = shape.unsigned_sizes();
    CHECK(copy == shape);
    CHECK(back == shape);
    CHECK(shape == shape.unsigned_sizes());
    shape.push_back(rank + 1);
    CHECK(copy != shape);
  }
  Shape moved = std::move(shape);
  moved[14] = 7;
  CHECK(moved.back() == 7);
  CHECK(shape_of(empty_array<Mask>({2, 0, 3})) == Shape{2, 0, 3});
  CHECK(full_array({2, 3}, 1).shape() == Shape{2, 3});
  CHECK(numel(full_array<IndexArray>({}, 5)) == 1);
}

static_assert(!std::is_constructible_v<Array, Shape> && !std::is_constructible_v<Mask, Shape>,
              "an array is made from a shape by empty_array and full_array alone");

TEST_CASE("a tensor too large for memory is refused before anything is allocated") {
  check_throws<ShapeError>([] { (void)Tensor::zeros({index_t{1} << 40, index_t{1} << 40}); },
                           "[tensor] expected at most 2^46 elements");
}

TEST_CASE("negative axes count from the end") {
  CHECK(normalize_axis("op", 0, {2, 3}) == 0);
  CHECK(normalize_axis("op", -1, {2, 3}) == 1);
  CHECK(normalize_axis("op", -2, {2, 3}) == 0);
  check_throws<ShapeError>([] { (void)normalize_axis("op", 2, {2, 3}); },
                           "[op] expected an axis of shape (2,3), got 2");
  check_throws<ShapeError>([] { (void)normalize_axis("op", -3, {2, 3}); }, "[op] expected an axis of shape");
  check_throws<ShapeError>([] { (void)normalize_axis("op", 0, {}); }, "[op] expected an axis of shape (), got 0");
  CHECK(normalize_axis_or_scalar("op", -1, {2, 3}) == 1);
  CHECK(normalize_axis_or_scalar("op", 0, {}) == 0);
  CHECK(normalize_axis_or_scalar("op", -1, {}) == 0);
  check_throws<ShapeError>([] { (void)normalize_axis_or_scalar("op", 1, {}); },
                           "[op] expected an axis of shape (), got 1");
  CHECK(normalize_axes("op", {-1}, {}).empty());
  CHECK(normalize_axes("op", {-1, 0}, {2, 3, 4}) == Axes{0, 2});
  CHECK(normalize_axes("op", {}, {2, 3}) == Axes{0, 1});
  check_throws<ShapeError>([] { (void)normalize_axes("op", {0, -2}, {2, 3}); },
                           "[op] expected different axes of shape");
  check_throws<ShapeError>([] { (void)normalize_axes("op", {0, -1}, {}); }, "[op] expected different axes of shape");
  check_throws<ShapeError>([] { (void)normalize_axes("op", {-2}, {}); }, "[op] expected an axis of shape (), got -2");
}

TEST_CASE("shapes broadcast as in NumPy") {
  CHECK(broadcast_shape("op", {2, 1}, {3}) == Shape{2, 3});
  CHECK(broadcast_shape("op", {}, {3}) == Shape{3});
  CHECK(broadcast_shape("op", {1}, {0}) == Shape{0});
  CHECK(broadcast_shape("op", {4, 1, 2}, {3, 1}) == Shape{4, 3, 2});
  check_throws<ShapeError>([] { (void)broadcast_shape("op", {2}, {3}); }, "[op] expected shapes that broadcast, got");
  check_throws<ShapeError>([] { (void)broadcast_shape("op", {index_t{1} << 40, 1}, {index_t{1} << 40}); },
                           "expected at most 2^46 elements");
  CHECK(Shape{1} != Shape{});
  CHECK(Shape{2, 3} != Shape{3, 2});
}

TEST_CASE("a gradient is summed over exactly the axes that were broadcast") {
  Array g = empty_array({2, 3, 4});
  for (std::size_t i = 0; i < 24; ++i) g.data()[i] = static_cast<real>(i);
  check_equal(sum_to_shape("op", g, {3, 1}), array({3, 1}, {60, 92, 124}));
  check_equal(sum_to_shape("op", g, {1, 3, 4}), array({1, 3, 4}, {12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34}));
  check_equal(sum_to_shape("op", g, {2, 1, 1}), array({2, 1, 1}, {66, 210}));
  check_equal(sum_to_shape("op", g, {1}), array({1}, {276}));
  check_equal(sum_to_shape("op", g, {}), array({}, {276}));
  check_equal(sum_to_shape("op", g, {2, 3, 4}), g);
  check_equal(sum_to_shape("op", empty_array({0, 2}), {1, 2}), array({1, 2}, {0, 0}));
  check_throws<ShapeError>([&] { (void)sum_to_shape("op", g, {2, 1}); },
                           "[op] expected a gradient that can be summed to (2,1), got (2,3,4)");
  check_throws<ShapeError>([&] { (void)sum_to_shape("op", g, {1, 2, 3, 4}); },
                           "[op] expected a gradient that can be summed to");
}

TEST_CASE("messages name the op and show the shapes") {
  const Shape matrix = {2, 3};
  check_throws<ShapeError>([&] { throw ShapeError("op", "a vector", matrix); }, "[op] expected a vector, got (2,3)");
  check_throws<ShapeError>([&] { throw ShapeError("op", "three vectors", matrix, Shape{}, Shape{4}); },
                           "[op] expected three vectors, got (2,3), () and (4)");
  check_throws<ValueError>([] { throw ValueError("op", "a name and a rate", "'x'", 0.1, index_t{-3}); },
                           "[op] expected a name and a rate, got 'x', 0.1 and -3");
  check_throws<ShapeError>([&] { check_shape("op", "a bias", matrix, {3}); },
                           "[op] expected a bias of shape (3), got (2,3)");
  check_throws<IndexError>([] { check_index("op", "ids", 5, 0, 4); }, "[op] expected ids in 0..4, got 5");
  check_throws<IndexError>([] { check_index("op", "ids", -1, 0, 4); }, "[op] expected ids in 0..4, got -1");
  check_throws<IndexError>([] { check_index("op", "ids", 0, 0, -1); }, "[op] expected no ids, got 0");
  check_throws<Error>([] { throw IndexError("op", "every error is an Error"); }, "[op] every error is an Error");
}
