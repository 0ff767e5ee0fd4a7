// Reductions: values over any axes, accuracy of long sums, ties, infinities and NaN, empty axes, errors.
#include "core/evaluate.hpp"

#include <algorithm>
#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

void check_positions(const IndexArray& got, const Shape& shape, std::initializer_list<index_t> want) {
  CHECK(got.shape() == shape);
  REQUIRE(got.size() == want.size());
  CHECK(std::equal(want.begin(), want.end(), got.data()));
}

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
    check_equal(reshape(dropped, want.shape()).value(), want);
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
  check_throws<ShapeError>([&] { (void)mean(x, {1}); }, "[mean] expected at least one element to reduce, got (2,0,3)");
  check_throws<ShapeError>([&] { (void)mean(x); }, "[mean] expected at least one element to reduce");
  CHECK(shape_text(mean(x, {0}).shape()) == "(0,3)");
  const Evaluated got = evaluate([](Inputs a) { return sum(a[0], {1}); }, {x.value()});
  CHECK(shape_text(got.grads[0].shape()) == "(2,0,3)");
}

TEST_CASE("reductions refuse axes that do not exist or repeat") {
  const Tensor x = counting({2, 3});
  check_throws<ShapeError>([&] { (void)sum(x, {2}); }, "[sum] expected an axis of shape (2,3), got 2");
  check_throws<ShapeError>([&] { (void)mean(x, {-3}); }, "[mean] expected an axis of shape");
  check_throws<ShapeError>([&] { (void)sum(x, {1, -1}); }, "[sum] expected different axes of shape");
  check_throws<ShapeError>([&] { (void)sum(Tensor::ones({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})); },
                           "[sum] expected at most 12 axes, got");
}

TEST_CASE("means of twenty million ones are one") {
  constexpr index_t n = 20000000;
  const Limits limits{1e-6, 0};
  const Tensor long_vector = Tensor::ones({n});
  check_near(static_cast<double>(mean(long_vector).item()), 1, limits);
  check_near(mean(reshape(long_vector, {n / 2, 2}), {0}).value(), row({1, 1}), limits);
  check_near(mean(reshape(long_vector, {2, n / 2}), {1}).value(), row({1, 1}), limits);
  check_near(static_cast<double>(sum(long_vector).item()), static_cast<double>(n), limits);
}

TEST_CASE("the sum of numbers that mostly cancel keeps its precision") {
  Array x = empty_array({100001});
  for (std::size_t i = 0; i < 100000; ++i) x(i) = static_cast<real>(i % 2 ? 1e6 : -1e6);
  x(100000) = real(0.5);
  check_near(static_cast<double>(sum(Tensor(x)).item()), 0.5, {0, tolerance(1e-9, 1e-3)});
}

TEST_CASE("bias gradients over many rows keep small terms") {
  constexpr index_t rows = 200000;
  Tape tape;
  const Tensor bias = tape.variable(row({0, 0}));
  const Tensor y = Tensor::zeros({rows, 2}) + bias;
  const Tensor w = tape.variable(row({0}));
  const Tensor z = linear(Tensor::zeros({rows, 1}), Tensor::zeros({1, 1}), w);
  tape.backward(sum(y * real(0.1)) + sum(z * real(0.1)));
  check_near(tape.grad(bias), row({0.1 * rows, 0.1 * rows}), {tolerance(1e-12, 1e-6), 0});
  check_near(tape.grad(w), row({0.1 * rows}), {tolerance(1e-12, 1e-6), 0});
}

TEST_CASE("max and min over any axes, with and without keepdim") {
  const Tensor x = counting({2, 3, 4});
  check_equal(max(x).value(), array({}, {23}));
  check_equal(min(x).value(), array({}, {0}));
  check_equal(max(x, {0}).value(), array({3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
  check_equal(max(x, {1}).value(), array({2, 4}, {8, 9, 10, 11, 20, 21, 22, 23}));
  check_equal(min(x, {-1, 0}).value(), array({3}, {0, 4, 8}));
  check_equal(min(x, {2}, true).value(), array({2, 3, 1}, {0, 4, 8, 12, 16, 20}));
  check_equal(max(x, {}, true).value(), array({1, 1, 1}, {23}));
  check_equal(max(Tensor::scalar(3)).value(), array({}, {3}));
}

TEST_CASE("max and min agree with a plain loop for every width up to 70") {
  for (index_t width = 1; width <= 70; ++width) {
    const Tensor x = sample({3, width}, width);
    const Array high = max(x, {1}).value(), low = min(x, {1}).value();
    for (std::size_t r = 0; r < 3; ++r) {
      const real* begin = x.data() + r * width;
      CHECK(high.data()[r] == *std::max_element(begin, begin + width));
      CHECK(low.data()[r] == *std::min_element(begin, begin + width));
    }
  }
}

TEST_CASE("max of infinities is infinite, and a NaN anywhere gives NaN") {
  check_equal(max(row({-kInf, -kInf})).value(), array({}, {-kInf}));
  check_equal(min(row({kInf, kInf})).value(), array({}, {kInf}));
  for (std::size_t at = 0; at < 40; ++at) {
    Array x = sample({40}, at);
    x.data()[at] = static_cast<real>(kNaN);
    check_equal(max(x).value(), array({}, {kNaN}));
    check_equal(min(x).value(), array({}, {kNaN}));
    check_positions(argmax(x, 0), {}, {static_cast<index_t>(at)});
  }
}

TEST_CASE("tied elements share the gradient of max and min, so that it sums to the upstream gradient") {
  const auto largest = [](Inputs x) { return max(x[0], {-1}); };
  check_equal(evaluate(largest, {row({0.6, 0.6, 0.3})}).grads[0], row({0.5, 0.5, 0}));
  const Array x = array({2, 4}, {2, 2, 2, 2, 1, 5, 5, 0});
  check_equal(evaluate(largest, {x}, row({1, 10})).grads[0], array({2, 4}, {0.25, 0.25, 0.25, 0.25, 0, 5, 5, 0}));
  Array constant = empty_array({1000});
  std::fill(constant.begin(), constant.end(), real(7));
  const Array shares = evaluate(largest, {constant}).grads[0];
  double total = 0;
  for (real share : shares) {
    check_near(static_cast<double>(share), 1e-3);
    total += static_cast<double>(share);
  }
  check_near(total, 1, {1e-6, 0});
  const auto smallest = [](Inputs a) { return min(a[0]); };
  check_equal(evaluate(smallest, {row({4, 1, 1, 1, 1})}).grads[0], row({0, 0.25, 0.25, 0.25, 0.25}));
}

TEST_CASE("argmax and argmin return the first position") {
  const Tensor x = array({2, 3}, {1, 3, 3, 5, 0, 0});
  check_positions(argmax(x, 1), {2}, {1, 0});
  check_positions(argmin(x, -1), {2}, {0, 1});
  check_positions(argmax(x, 0), {3}, {1, 0, 0});
  check_positions(argmax(x, 1, true), {2, 1}, {1, 0});
}

TEST_CASE("extremes over an empty axis are refused, extremes of no rows are empty") {
  const Tensor empty = Tensor::zeros({2, 0}), no_rows = Tensor::zeros({0, 2});
  check_throws<ShapeError>([&] { max(empty, {1}); }, "[max] expected at least one element to reduce, got");
  check_throws<ShapeError>([&] { min(empty); }, "[min]");
  check_throws<ShapeError>([&] { argmax(empty, 1); }, "[argmax]");
  check_throws<ShapeError>([&] { argmin(empty, 1); }, "[argmin]");
  check_throws<ShapeError>([&] { max(no_rows, {2}); }, "[max] expected an axis of shape");
  check_throws<ShapeError>([&] { max(no_rows, {1, -1}); }, "[max] expected different axes of shape");
  CHECK(max(no_rows, {1}).shape() == Shape{0});
  CHECK(argmax(no_rows, 1).shape() == Shape{0});
}

TEST_CASE("variance is unbiased by default and accepts other corrections") {
  const Tensor x = array({2, 4}, {1, 2, 3, 4, 0, 0, 6, 2});
  check_near(var(x, {1}).value(), row({5.0 / 3, 8}));
  check_near(var(x, {1}, true, 0).value(), array({2, 1}, {1.25, 6}));
  check_near(var(x, {0}).value(), row({0.5, 2, 4.5, 2}));
  check_near(stddev(x, {1}).value(), row({std::sqrt(5.0 / 3), std::sqrt(8.0)}));
  check_near(stddev(x, {}, false, 0).value(), array({}, {std::sqrt(3.6875)}));
}

TEST_CASE("variance keeps its precision under a large mean") {
  const Tensor x = array({2, 4}, {40000, 40001, 40002, 40003, -2e6, -2e6 + 1, -2e6 + 2, -2e6 + 3});
  check_near(var(x, {1}, false, 0).value(), row({1.25, 1.25}), {tolerance(1e-12, 1e-6), 0});
  Array long_row = empty_array({10000});
  for (std::size_t i = 0; i < long_row.size(); ++i)
    long_row.data()[i] = static_cast<real>(1000 + (i % 2 ? 0.25 : -0.25));
  check_near(var(long_row, {}, false, 0).value(), array({}, {0.0625}), {tolerance(1e-12, 1e-6), 0});
}

TEST_CASE("variance of too few elements is refused") {
  const Tensor x = Tensor::zeros({3, 1});
  check_throws<ValueError>([&] { var(x, {1}); }, "[var] expected a correction below the number of elements, 1, got 1");
  check_throws<ValueError>([&] { stddev(Tensor::zeros({3, 0}), {1}, false, 0); }, "[stddev]");
  check_throws<ValueError>([&] { var(x, {0}, false, -1); }, "[var] expected a correction of at least 0, got");
  check_throws<ShapeError>([&] { var(x, {2}); }, "[var] expected an axis of shape");
  check_equal(var(x, {1}, false, 0).value(), row({0, 0, 0}));
}

TEST_CASE("a standard deviation of zero has zero gradient") {
  const Evaluated e = evaluate([](Inputs x) { return stddev(x[0], {1}); }, {array({2, 2}, {3, 3, 1, 3})});
  check_near(e.value, row({0, std::sqrt(2.0)}));
  check_near(e.grads[0], array({2, 2}, {0, 0, -std::sqrt(0.5), std::sqrt(0.5)}));
}

TEST_CASE("the norm of a zero row is 0 with gradient 0") {
  const Evaluated e = evaluate([](Inputs x) { return norm(x[0], {1}); }, {array({2, 3}, {0, 0, 0, 1, 2, 2})});
  check_equal(e.value, row({0, 3}));
  check_near(e.grads[0], array({2, 3}, {0, 0, 0, 1.0 / 3, 2.0 / 3, 2.0 / 3}), {tolerance(1e-15, 1e-7), 0});
}

TEST_CASE("norm does not overflow or underflow in float, and gives unit gradients for tiny rows") {
  const double big = kDouble ? 1e150 : 1e30, tiny = kDouble ? 1e-150 : 1e-40;
  check_near(norm(row({3 * big, 4 * big})).value(), array({}, {5 * big}));
  const Evaluated e = evaluate([](Inputs x) { return norm(x[0]); }, {row({3 * tiny, 4 * tiny})});
  check_near(e.grads[0], row({0.6, 0.8}), {1e-4, 0});
  check_equal(norm(Tensor::zeros({0})).value(), array({}, {0}));
  check_near(norm(counting({2, 2, 2}), {0, 2}, true).value(), array({1, 2, 1}, {std::sqrt(42.0), std::sqrt(98.0)}));
  check_throws<ShapeError>([&] { norm(row({1}), {1}); }, "[norm] expected an axis of shape");
}

TEST_CASE("cumsum accumulates along an axis in double") {
  const Tensor x = array({2, 3}, {1, 2, 3, 4, 5, 6});
  check_equal(cumsum(x, 1).value(), array({2, 3}, {1, 3, 6, 4, 9, 15}));
  check_equal(cumsum(x, -2).value(), array({2, 3}, {1, 2, 3, 5, 7, 9}));
  const auto f = [](Inputs a) { return cumsum(a[0], 0); };
  check_equal(evaluate(f, {row({1, 2, 3})}, row({1, 10, 100})).grads[0], row({111, 110, 100}));
  CHECK(cumsum(Tensor::zeros({2, 0}), 1).shape() == Shape{2, 0});
  check_throws<ShapeError>([&] { cumsum(x, 2); }, "[cumsum] expected an axis of shape");
  const Array ones = cumsum(Tensor::ones({17000000}), 0).value();
  CHECK(static_cast<double>(ones.data()[16999999]) == 17000000);  // a float that counts by ones stops at 2^24
}
