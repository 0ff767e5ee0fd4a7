// Ops that move elements: values, gradients of repeated elements, errors.
#include "core/evaluate.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

}  // namespace

TEST_CASE("reshape keeps the order of the elements") {
  const Tensor x = counting({2, 3});
  check_equal(reshape(x, {3, 2}).value(), array({3, 2}, {0, 1, 2, 3, 4, 5}));
  check_equal(reshape(x, {-1}).value(), row({0, 1, 2, 3, 4, 5}));
  CHECK(shape_text(reshape(x, {1, -1, 2}).shape()) == "(1,3,2)");
  CHECK(reshape(array({1, 1}, {7}), {}).rank() == 0);
  CHECK(shape_text(reshape(Tensor::zeros({0, 3}), {3, 0}).shape()) == "(3,0)");
  CHECK(shape_text(reshape(Tensor::zeros({0, 3}), {-1, 3}).shape()) == "(0,3)");
}

TEST_CASE("reshape refuses an element count that does not match") {
  const Tensor x = counting({2, 3});
  check_throws<ShapeError>([&] { (void)reshape(x, {4}); },
                           "[reshape] expected a shape with the 6 elements of (2,3), got (4)");
  check_throws<ShapeError>([&] { (void)reshape(x, {0, 6}); },
                           "[reshape] expected a shape with the 6 elements of (2,3), got (0,6)");
  check_throws<ShapeError>([&] { (void)reshape(x, {-2, 3}); },
                           "[reshape] expected sizes of at least 0, or once -1, got (-2,3)");
  check_throws<ShapeError>([&] { (void)reshape(x, {-1, -1}); },
                           "[reshape] expected sizes of at least 0, or once -1, got (-1,-1)");
  check_throws<ShapeError>([&] { (void)reshape(x, {-1, 4}); },
                           "[reshape] expected a shape with the 6 elements of (2,3), got (-1,4)");
  check_throws<ShapeError>([&] { (void)reshape(Tensor::zeros({0}), {-1, 0}); },
                           "expected a shape with the 0 elements of (0), got (-1,0)");
  check_throws<ShapeError>([&] { (void)reshape(x, {index_t{1} << 40, index_t{1} << 40}); },
                           "expected at most 2^46 elements");
}

TEST_CASE("the gradient of a reshaped transpose reaches the right elements") {
  const Tensor weights = array({2, 3}, {1, 2, 3, 4, 5, 6});
  const Evaluated got = evaluate([&](Inputs x) { return sum(weights * reshape(transpose(x[0]), {2, 3})); },
                                 {array({2, 3}, {1, 2, 3, 4, 5, 6})});
  check_equal(reshape(transpose(weights), {2, 3}).value(), array({2, 3}, {1, 4, 2, 5, 3, 6}));
  check_equal(got.grads[0], array({2, 3}, {1, 3, 5, 2, 4, 6}));
}

TEST_CASE("a reshape of a shared upstream gradient leaves the other users' gradient unchanged") {
  const Evaluated got = evaluate(
      [](Inputs x) {
        const Tensor flat = reshape(x[0], {4});
        return flat + flat * real(2) + reshape(x[0] + x[0], {4});
      },
      {counting({2, 2})}, row({1, 10, 100, 1000}));
  check_equal(got.grads[0], array({2, 2}, {5, 50, 500, 5000}));
}

TEST_CASE("permute reorders axes") {
  const Tensor x = counting({2, 3, 4});
  const Tensor y = permute(x, {2, 0, 1});
  CHECK(shape_text(y.shape()) == "(4,2,3)");
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 3; ++k) CHECK(y.value()(i, j, k) == x.value()(j, k, i));
  check_equal(permute(x, {0, 1, 2}).value(), x.value());
  check_equal(permute(x, {-1, -3, -2}).value(), y.value());
  check_equal(permute(permute(x, {2, 0, 1}), {1, 2, 0}).value(), x.value());
  CHECK(permute(Tensor::zeros({}), {}).rank() == 0);
  CHECK(shape_text(permute(Tensor::zeros({2, 0, 3}), {2, 1, 0}).shape()) == "(3,0,2)");
}

TEST_CASE("transpose swaps two axes") {
  check_equal(transpose(Tensor(array({2, 3}, {1, 2, 3, 4, 5, 6}))).value(), array({3, 2}, {1, 4, 2, 5, 3, 6}));
  CHECK(shape_text(transpose(Tensor::zeros({2, 3, 4}), 0, -1).shape()) == "(4,3,2)");
  check_equal(transpose(Tensor(counting({3})), 0, 0).value(), row({0, 1, 2}));
}

TEST_CASE("axes of any size can be permuted, in values and in accumulated gradients") {
  for (const auto& [rows, columns] : {std::array{1, 50}, std::array{16, 16}, std::array{37, 50}, std::array{33, 17}}) {
    INFO(rows, " ", columns);
    const Array x = counting({2, rows, columns});
    const Array seed = counting({2, columns, rows});
    const Evaluated got =
        evaluate([](Inputs in) { return transpose(in[0], 1, 2) + transpose(in[0], 1, 2); }, {x}, seed);
    int wrong = 0;
    for (index_t b = 0; b < 2; ++b)
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < columns; ++j) {
          wrong += got.value(b, j, i) != 2 * x(b, i, j);
          wrong += got.grads[0](b, i, j) != 2 * seed(b, j, i);
        }
    CHECK(wrong == 0);
  }
}

TEST_CASE("permute and transpose refuse invalid axes") {
  const Tensor x = counting({2, 3});
  check_throws<ShapeError>([&] { (void)permute(x, {0}); }, "[permute] expected every axis of shape (2,3), got (");
  check_throws<ShapeError>([&] { (void)permute(x, {0, 0}); }, "[permute] expected different axes of shape");
  check_throws<ShapeError>([&] { (void)permute(x, {1, -1}); }, "[permute] expected different axes of shape");
  check_throws<ShapeError>([&] { (void)permute(x, {0, 2}); }, "[permute] expected an axis of shape");
  check_throws<ShapeError>([&] { (void)transpose(x, 0, 2); }, "[transpose] expected an axis of shape");
  check_throws<ShapeError>([&] { (void)transpose(Tensor(counting({3}))); }, "[transpose] expected an axis of shape");
  check_throws<ShapeError>(
      [&] {
        (void)permute(Tensor::ones({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
                      Axes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
      },
      "[permute] expected at most 12 axes, got");
}

TEST_CASE("slice selects positions along an axis") {
  const Tensor x = counting({3, 4});
  check_equal(slice(x, 0, 1, 3).value(), array({2, 4}, {4, 5, 6, 7, 8, 9, 10, 11}));
  check_equal(slice(x, 1, 1, 3).value(), array({3, 2}, {1, 2, 5, 6, 9, 10}));
  check_equal(slice(x, -1, -2).value(), array({3, 2}, {2, 3, 6, 7, 10, 11}));
  check_equal(slice(x, 1, 0, -1, 2).value(), array({3, 2}, {0, 2, 4, 6, 8, 10}));
  CHECK(shape_text(slice(x, 0, 1, 1).shape()) == "(0,4)");
  CHECK(shape_text(slice(x, 0, 3).shape()) == "(0,4)");
  check_equal(slice(x, 1, 1, kEnd, kEnd).value(), array({3, 1}, {1, 5, 9}));  // a step beyond the axis
}

TEST_CASE("slices may overlap and skip elements") {
  const Evaluated overlap = evaluate(
      [](Inputs x) { return sum(slice(x[0], 0, 0, 3)) + sum(slice(x[0], 0, 1, 4)) * real(10); }, {row({1, 2, 3, 4})});
  check_equal(overlap.grads[0], row({1, 11, 11, 10}));
  const Evaluated skip = evaluate([](Inputs x) { return sum(slice(x[0], 0, 0, kEnd, 2)); }, {row({1, 2, 3, 4, 5})});
  check_equal(skip.grads[0], row({1, 0, 1, 0, 1}));
  const Evaluated nothing = evaluate([](Inputs x) { return slice(x[0], 0, 2, 2); }, {row({1, 2, 3})});
  check_equal(nothing.grads[0], row({0, 0, 0}));
}

TEST_CASE("slice refuses positions outside the axis instead of clamping them") {
  const Tensor x = counting({3, 4});
  check_throws<IndexError>([&] { (void)slice(x, 1, 2, 5); },
                           "[slice] expected positions in order within an axis of 4, got 2 and 5");
  check_throws<IndexError>([&] { (void)slice(x, 1, -5); }, "within an axis of 4, got -5 and ");
  check_throws<IndexError>([&] { (void)slice(x, 1, 3, 1); }, "within an axis of 4, got 3 and 1");
  check_throws<IndexError>([&] { (void)slice(x, 1, 0, -5); }, "[slice]");
  check_throws<ValueError>([&] { (void)slice(x, 1, 0, 4, 0); }, "[slice] expected a step of at least 1, got 0");
  check_throws<ShapeError>([&] { (void)slice(x, 2, 0); }, "[slice] expected an axis of shape");
  check_throws<ShapeError>([&] { (void)slice(Tensor::zeros({}), 0, 0); }, "[slice] expected an axis of shape");
}

TEST_CASE("squeeze and unsqueeze drop and add axes of size 1") {
  const Tensor x = counting({1, 2, 1, 3});
  CHECK(squeeze(x).shape() == Shape{2, 3});
  CHECK(squeeze(x, {0}).shape() == Shape{2, 1, 3});
  CHECK(squeeze(x, {-2, 0}).shape() == Shape{2, 3});
  CHECK(unsqueeze(x, 0).shape() == Shape{1, 1, 2, 1, 3});
  CHECK(unsqueeze(x, -1).shape() == Shape{1, 2, 1, 3, 1});
  CHECK(unsqueeze(Tensor::scalar(1), 0).shape() == Shape{1});
  check_equal(squeeze(x).value(), counting({2, 3}));
  check_throws<ShapeError>([&] { squeeze(x, {1}); }, "[squeeze] expected a size of 1 along axis 1, got (1,2,1,3)");
  check_throws<ShapeError>([&] { squeeze(x, {4}); }, "[squeeze] expected an axis of shape");
  check_throws<ShapeError>([&] { unsqueeze(x, 5); },
                           "[unsqueeze] expected a place for a further axis of shape (1,2,1,3), got 5");
  check_throws<ShapeError>([&] { unsqueeze(x, -6); },
                           "[unsqueeze] expected a place for a further axis of shape (1,2,1,3), got -6");
}

TEST_CASE("broadcast_to repeats, and its gradient sums over the repetitions") {
  const auto f = [](Inputs x) { return broadcast_to(x[0], {2, 2, 3}); };
  const Evaluated e = evaluate(f, {array({2, 1}, {1, 2})}, counting({2, 2, 3}));
  check_equal(e.value, array({2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
  check_equal(e.grads[0], array({2, 1}, {24, 42}));
  check_equal(broadcast_to(Tensor::scalar(4), {2}).value(), row({4, 4}));
  CHECK(broadcast_to(Tensor::scalar(4), {0, 2}).shape() == Shape{0, 2});
}

TEST_CASE("broadcast_to refuses shapes that the tensor does not broadcast to") {
  const Tensor x = row({1, 2});
  check_throws<ShapeError>([&] { broadcast_to(x, {3}); }, "[broadcast_to]");
  check_throws<ShapeError>([&] { broadcast_to(x, {1}); }, "[broadcast_to] expected x that broadcasts to");
  check_throws<ShapeError>([&] { broadcast_to(array({1, 2}, {1, 2}), {2}); }, "[broadcast_to]");
  check_throws<ValueError>([&] { broadcast_to(x, {-1, 2}); }, "[broadcast_to] expected sizes of at least 0, got");
}

TEST_CASE("flip reverses axes, and twice gives the tensor back") {
  const Tensor x = counting({2, 3});
  check_equal(flip(x, {0}).value(), array({2, 3}, {3, 4, 5, 0, 1, 2}));
  check_equal(flip(x, {-1}).value(), array({2, 3}, {2, 1, 0, 5, 4, 3}));
  check_equal(flip(x).value(), array({2, 3}, {5, 4, 3, 2, 1, 0}));
  const Tensor cube = sample({3, 4, 5}, 1);
  check_equal(flip(flip(cube, {0, 2}), {2, 0}).value(), cube.value());
  const auto f = [](Inputs a) { return flip(a[0], {1}); };
  check_equal(evaluate(f, {x.value()}, x.value()).grads[0], array({2, 3}, {2, 1, 0, 5, 4, 3}));
  CHECK(flip(Tensor::zeros({2, 0})).shape() == Shape{2, 0});
  check_throws<ShapeError>([&] { flip(x, {2}); }, "[flip] expected an axis of shape");
  check_throws<ShapeError>([&] { flip(x, {1, -1}); }, "[flip] expected different axes of shape");
}

TEST_CASE("split_heads equals slice, reshape and permute, and join_heads inverts it") {
  const Tensor x(sample({2, 3, 10}, 1));
  const Tensor want = permute(reshape(slice(x, 2, 2, 8), {2, 3, 3, 2}), {0, 2, 1, 3});
  check_equal(split_heads(x, 2, 3, 2).value(), want.value());
  check_equal(join_heads(want).value(), slice(x, 2, 2, 8).value());
  check_throws<ShapeError>([&] { split_heads(x, 6, 3, 2); },
                           "[split_heads] expected x [B, T, C] with 3 heads of 2 columns from column 6 on, got");
  check_throws<ShapeError>([&] { join_heads(x); }, "[join_heads] expected x [B, H, T, D], got");
}
