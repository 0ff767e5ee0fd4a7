// Softmax, log-softmax and log-sum-exp: large logits, infinities, any axis, against plain loops.
#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

/// Softmax of a [rows, width] array in double.
Array plain_softmax(const Array& x) {
  Array y = empty_array(x.shape());
  for (std::size_t r = 0; r < x.shape()[0]; ++r) {
    double largest = -kInf, total = 0;
    for (std::size_t c = 0; c < x.shape()[1]; ++c) largest = std::max(largest, static_cast<double>(x(r, c)));
    for (std::size_t c = 0; c < x.shape()[1]; ++c) total += std::exp(static_cast<double>(x(r, c)) - largest);
    for (std::size_t c = 0; c < x.shape()[1]; ++c)
      y(r, c) = static_cast<real>(std::exp(static_cast<double>(x(r, c)) - largest) / total);
  }
  return y;
}

}  // namespace

TEST_CASE("softmax and log-softmax of large logits") {
  const Limits limits{tolerance(1e-9, 1e-6), tolerance(1e-12, 1e-7)};
  const Tensor x = row({1000, 1000.5, -1000});
  check_near(softmax(x).value(), row({0.3775406688, 0.6224593312, 0}), limits);
  check_near(log_softmax(x).value(), row({-0.9740769842, -0.4740769842, -2000.974076984}), limits);
  const Tensor wide = row({-249.873093, -424.126709, -460.292542, 378.097443, -292.614532});
  check_near(softmax(wide).value(), row({0, 0, 0, 1, 0}), {0, 1e-270});
}

TEST_CASE("a common offset changes neither softmax nor log-softmax") {
  const Array x = sample({3, 20}, 1, -3, 3);
  Array shifted = x;
  for (real& value : shifted) value += real(1 << 12);
  Array same = shifted;  // the values after the rounding of the sum, without the offset
  for (real& value : same) value -= real(1 << 12);
  const Limits limits{tolerance(1e-10, 1e-6), 1e-30};
  check_near(softmax(shifted).value(), softmax(same).value(), limits);
  check_near(log_softmax(shifted).value(), log_softmax(same).value(), limits);
}

TEST_CASE("softmax agrees with a plain loop for many widths") {
  for (const index_t width : {1, 2, 7, 8, 15, 16, 17, 33, 64, 100, 255, 513, 1000, 2100}) {
    INFO(width);
    const Array x = sample({3, width}, width, -5, 5);
    const Array want = plain_softmax(x);
    check_near(softmax(Tensor(x)).value(), want, {tolerance(1e-14, 1e-6), 0});
    Array logarithms = want;
    for (real& value : logarithms) value = static_cast<real>(std::log(static_cast<double>(value)));
    check_near(log_softmax(Tensor(x)).value(), logarithms, {tolerance(1e-13, 1e-6), tolerance(1e-14, 1e-6)});
  }
}

TEST_CASE("softmax and log-softmax of rows with infinities give no NaN") {
  check_equal(softmax(row({-kInf, 1})).value(), row({0, 1}));
  check_equal(log_softmax(row({-kInf, 1})).value(), row({-kInf, 0}));
  check_equal(softmax(row({-kInf, -kInf})).value(), row({0, 0}));
  check_equal(log_softmax(row({-kInf, -kInf})).value(), row({-kInf, -kInf}));
  check_near(softmax(row({88.8, 88.8})).value(), row({0.5, 0.5}));
  check_near(log_softmax(row({800, 800})).value(), row({-0.6931471806, -0.6931471806}), {tolerance(1e-9, 1e-6), 0});
}

TEST_CASE("gradients of rows with infinities are zero at the infinite elements") {
  const Array up = row({3, 5});
  const auto softmax_derivative = [&](const Array& x) {
    return evaluate([](Inputs a) { return softmax(a[0]); }, {x}, up).grads[0];
  };
  const auto log_derivative = [&](const Array& x) {
    return evaluate([](Inputs a) { return log_softmax(a[0]); }, {x}, up).grads[0];
  };
  check_equal(softmax_derivative(row({-kInf, 1})), row({0, 0}));
  check_equal(softmax_derivative(row({-kInf, -kInf})), row({0, 0}));
  check_equal(log_derivative(row({-kInf, 1})), row({3, -3}));
  check_equal(log_derivative(row({-kInf, -kInf})), row({0, 0}));
  const Evaluated added = evaluate([](Inputs a) { return log_softmax(a[0]) + a[0]; }, {row({-kInf, -kInf})}, up);
  check_equal(added.grads[0], up);  // adds zero to the existing gradient
}

TEST_CASE("softmax: a NaN affects its own row only") {
  const Array x = array({2, 2}, {kNaN, 1, 2, 2});
  check_equal(softmax(Tensor(x)).value(), array({2, 2}, {kNaN, kNaN, 0.5, 0.5}));
  CHECK(std::isnan(static_cast<double>(log_softmax(Tensor(x)).value()(0, 1))));
}

TEST_CASE("softmax runs along any axis") {
  const Tensor x = array({2, 2, 2}, {0, 1, 2, 3, 10, 10, 10, 10});
  for (index_t axis = 0; axis < 3; ++axis) {
    const Tensor y = softmax(x, axis);
    CHECK(y.shape() == x.shape());
    check_near(sum(y, {axis}).value(), array({2, 2}, {1, 1, 1, 1}), {1e-6, 0});
    check_equal(softmax(x, axis - 3).value(), y.value());
    check_near(exp(log_softmax(x, axis)).value(), y.value(), {tolerance(1e-12, 1e-5), 0});
  }
  check_near(softmax(x, 1).value()(0, 0, 0), 1 / (1 + std::exp(2.0)), {1e-6, 0});
}

TEST_CASE("softmax of empty tensors and along invalid axes") {
  CHECK(shape_text(softmax(Tensor::zeros({3, 0})).shape()) == "(3,0)");
  CHECK(shape_text(log_softmax(Tensor::zeros({0, 3}), 0).shape()) == "(0,3)");
  check_throws<ShapeError>([] { (void)softmax(Tensor::scalar(1), 1); },
                           "[softmax] expected an axis of shape (), got 1");
  check_throws<ShapeError>([] { (void)log_softmax(Tensor::zeros({2}), 1); }, "[log_softmax] expected an axis of shape");
}

TEST_CASE("tied elements get equal gradients from softmax") {
  const Evaluated got = evaluate([](Inputs a) { return softmax(a[0]); }, {row({2, 2, 2, 2})}, row({1, 0, 0, 0}));
  check_near(got.grads[0], row({0.1875, -0.0625, -0.0625, -0.0625}));
}

TEST_CASE("the maximum subtracted inside softmax adds no gradient at ties") {
  const auto f = [](Inputs x) { return softmax(x[0]); };
  const Evaluated e = evaluate(f, {row({1, 1, 0})}, row({1, 0, 0}));
  const double p = static_cast<double>(e.value.data()[0]), r = static_cast<double>(e.value.data()[2]);
  check_near(e.grads[0], row({p * (1 - p), -p * p, -p * r}));
}

TEST_CASE("logsumexp of infinities has no NaN") {
  const auto f = [](Inputs x) { return logsumexp(x[0]); };
  const Evaluated one = evaluate(f, {row({-kInf, 1})});
  check_near(one.value, array({}, {1}));
  check_near(one.grads[0], row({0, 1}));
  const Evaluated none = evaluate(f, {row({-kInf, -kInf})});
  check_equal(none.value, array({}, {-kInf}));
  check_equal(none.grads[0], row({0, 0}));
  check_near(logsumexp(row({800, 800})).value(), array({}, {800.6931471805599}));
  check_near(logsumexp(row({88.8, 88.8})).value(), array({}, {88.8 + std::log(2.0)}), {tolerance(1e-12, 1e-6), 0});
}

TEST_CASE("logsumexp over axes") {
  const Tensor x = array({2, 2}, {0, 1, 2, 3});
  const double first = std::log(1 + std::exp(2.0));
  check_near(logsumexp(x, {0}).value(), row({first, first + 1}));
  check_near(logsumexp(x, {1}, true).value(),
             array({2, 1}, {std::log(1 + std::exp(1.0)), 2 + std::log(1 + std::exp(1.0))}));
  check_equal(logsumexp(Tensor::zeros({2, 0}), {1}).value(), row({-kInf, -kInf}));
  check_throws<ShapeError>([&] { logsumexp(x, {5}); }, "[logsumexp] expected an axis of shape");
}

TEST_CASE("an infinite element makes logsumexp infinite, and NaN stays NaN") {
  check_equal(logsumexp(row({kInf, 1})).value(), array({}, {kInf}));
  check_equal(logsumexp(row({kNaN, 1})).value(), array({}, {kNaN}));
  check_equal(logsumexp(row({-kInf, 200, kInf, -3})).value(), array({}, {kInf}));
  check_equal(logsumexp(row({kNaN, kInf, -kInf})).value(), array({}, {kNaN}));
  check_equal(logsumexp(row({kNaN, kInf})).value(), array({}, {kNaN}));
}
