// Sums and means over axes: values, shapes, precision of long sums, empty axes.
#include "core/evaluate.hpp"

#include <algorithm>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

}  // namespace

TEST_CASE("sum over every set of axes agrees with a plain loop") {
  const Array x = counting({2, 3, 4});
  for (int set = 0; set < 8; ++set) {
    Axes axes;
    for (index_t i = 0; i < 3; ++i)
      if (set >> i & 1) axes.push_back(i);
    if (axes.empty()) axes = {0, 1, 2};
    const auto summed = [&](index_t i) { return std::count(axes.begin(), axes.end(), i) > 0; };
    Array want = Tensor::zeros({summed(0) ? 1u : 2u, summed(1) ? 1u : 3u, summed(2) ? 1u : 4u}).value();
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 4; ++k) want(summed(0) ? 0 : i, summed(1) ? 0 : j, summed(2) ? 0 : k) += x(i, j, k);
    check_equal(sum(Tensor(x), axes, true).value(), want);
    const Tensor dropped = sum(Tensor(x), axes);
    CHECK(dropped.rank() == 3 - axes.size());
    check_equal(reshape(dropped, Axes(want.shape().begin(), want.shape().end())).value(), want);
  }
}

TEST_CASE("axes may be negative and in any order, and no axes means all") {
  const Tensor x = counting({2, 3});
  check_equal(sum(x, {-1}).value(), row({3, 12}));
  check_equal(sum(x, {1, 0}).value(), array({}, {15}));
  check_equal(sum(x).value(), array({}, {15}));
  check_equal(mean(x, {0}).value(), row({1.5, 2.5, 3.5}));
  check_equal(mean(x, {-2, -1}, true).value(), array({1, 1}, {2.5}));
  check_equal(sum(Tensor::scalar(7)).value(), array({}, {7}));
  check_equal(mean(Tensor::scalar(7)).value(), array({}, {7}));
}

TEST_CASE("the gradient of a reduction goes to every reduced element") {
  const Evaluated total = evaluate([](Inputs a) { return sum(a[0], {1}); }, {counting({2, 3})}, row({10, 20}));
  check_equal(total.grads[0], array({2, 3}, {10, 10, 10, 20, 20, 20}));
  const Evaluated average =
      evaluate([](Inputs a) { return mean(a[0], {0}, true); }, {counting({2, 3})}, array({1, 3}, {2, 4, 6}));
  check_equal(average.grads[0], array({2, 3}, {1, 2, 3, 1, 2, 3}));
  const Evaluated scalar = evaluate([](Inputs a) { return sum(a[0]); }, {array({}, {4})}, array({}, {3}));
  check_equal(scalar.grads[0], array({}, {3}));
}

TEST_CASE("a sum over an empty axis is zero, and its mean is refused") {
  const Tensor x = Tensor::zeros({2, 0, 3});
  check_equal(sum(x, {1}).value(), array({2, 3}, {0, 0, 0, 0, 0, 0}));
  check_equal(sum(x).value(), array({}, {0}));
  CHECK(shape_text(sum(x, {0}).shape()) == "(0,3)");
  check_throws<ShapeError>([&] { (void)mean(x, {1}); },
                           "[mean] the mean of no elements is not defined; got shape (2,0,3)");
  check_throws<ShapeError>([&] { (void)mean(x); }, "[mean] the mean of no elements");
  CHECK(shape_text(mean(x, {0}).shape()) == "(0,3)");
  const Evaluated got = evaluate([](Inputs a) { return sum(a[0], {1}); }, {x.value()});
  CHECK(shape_text(got.grads[0].shape()) == "(2,0,3)");
}

TEST_CASE("reductions refuse axes that do not exist or repeat") {
  const Tensor x = counting({2, 3});
  check_throws<ShapeError>([&] { (void)sum(x, {2}); }, "[sum] axis 2 does not exist; got shape (2,3)");
  check_throws<ShapeError>([&] { (void)mean(x, {-3}); }, "[mean] axis -3 does not exist");
  check_throws<ShapeError>([&] { (void)sum(x, {1, -1}); }, "[sum] an axis is named twice");
  check_throws<ShapeError>([&] { (void)sum(Tensor::ones(Shape(13, 1))); }, "[sum] at most 12 axes");
}

TEST_CASE("means of twenty million ones are one") {
  constexpr std::size_t n = 20000000;
  const Limits limits{1e-6, 0};
  const Tensor long_vector = Tensor::ones({n});
  check_near(static_cast<double>(mean(long_vector).item()), 1, limits);
  check_near(mean(reshape(long_vector, {n / 2, 2}), {0}).value(), row({1, 1}), limits);
  check_near(mean(reshape(long_vector, {2, n / 2}), {1}).value(), row({1, 1}), limits);
  check_near(static_cast<double>(sum(long_vector).item()), static_cast<double>(n), limits);
}

TEST_CASE("the sum of numbers that mostly cancel keeps its precision") {
  Array x(Shape{100001});
  for (std::size_t i = 0; i < 100000; ++i) x(i) = static_cast<real>(i % 2 ? 1e6 : -1e6);
  x(100000) = real(0.5);
  check_near(static_cast<double>(sum(Tensor(x)).item()), 0.5, {0, tolerance(1e-9, 1e-3)});
}

TEST_CASE("bias gradients over many rows keep small terms") {
  constexpr std::size_t rows = 200000;
  Tape tape;
  const Tensor bias = tape.variable(row({0, 0}));
  const Tensor y = Tensor::zeros({rows, 2}) + bias;
  const Tensor w = tape.variable(row({0}));
  const Tensor z = linear(Tensor::zeros({rows, 1}), Tensor::zeros({1, 1}), w);
  tape.backward(sum(y * real(0.1)) + sum(z * real(0.1)));
  check_near(tape.grad(bias), row({0.1 * rows, 0.1 * rows}), {tolerance(1e-12, 1e-6), 0});
  check_near(tape.grad(w), row({0.1 * rows}), {tolerance(1e-12, 1e-6), 0});
}
