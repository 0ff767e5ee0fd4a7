// Layer normalization: large means, constant rows, width 1, many widths against a plain loop.
#include "core/evaluate.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

/// Value and gradients of sum(dy * layer_norm(x, weight, bias)) by the formulas, in double; x [rows, width].
struct Plain {
  Array y, dx, dweight, dbias;

  Plain(const Array& x, const Array& weight, const Array& bias, const Array& dy, double eps)
      : y(empty_array(x.shape())), dx(y), dweight(empty_array(weight.shape())), dbias(dweight) {
    const index_t width = x.shape()[1];
    const double n = static_cast<double>(width);
    std::vector<double> weight_sum(width, 0), bias_sum(width, 0), g(width), normal(width);
    for (std::size_t r = 0; r < x.shape()[0]; ++r) {
      double mean = 0, variance = 0, mean_g = 0, mean_gn = 0;
      for (index_t c = 0; c < width; ++c) mean += static_cast<double>(x(r, c)) / n;
      for (index_t c = 0; c < width; ++c) variance += std::pow(static_cast<double>(x(r, c)) - mean, 2) / n;
      const double inverse = 1 / std::sqrt(variance + eps);
      for (index_t c = 0; c < width; ++c) {
        normal[c] = (static_cast<double>(x(r, c)) - mean) * inverse;
        y(r, c) = static_cast<real>(normal[c] * static_cast<double>(weight(c)) + static_cast<double>(bias(c)));
        g[c] = static_cast<double>(dy(r, c)) * static_cast<double>(weight(c));
        mean_g += g[c] / n;
        mean_gn += g[c] * normal[c] / n;
        weight_sum[c] += static_cast<double>(dy(r, c)) * normal[c];
        bias_sum[c] += static_cast<double>(dy(r, c));
      }
      for (index_t c = 0; c < width; ++c) dx(r, c) = static_cast<real>(inverse * (g[c] - mean_g - normal[c] * mean_gn));
    }
    for (index_t c = 0; c < width; ++c) {
      dweight(c) = static_cast<real>(weight_sum[c]);
      dbias(c) = static_cast<real>(bias_sum[c]);
    }
  }
};

}  // namespace

TEST_CASE("layer norm keeps its precision if the mean is large") {
  check_near(layer_norm(row({40000, 40001, 40002, 40003})).value(),
             row({-1.34163542, -0.4472118067, 0.4472118067, 1.34163542}), {tolerance(1e-8, 1e-5), 0});
  Array x = empty_array({16});
  for (std::size_t i = 0; i < 16; ++i) x(i) = static_cast<float>(1000 + static_cast<double>(i) * 1e-3);
  const Array y = layer_norm(x).value();
  check_near(static_cast<double>(y(0)), -1.34150776, {1e-4, 0});
  check_near(static_cast<double>(y(15)), 1.34423718, {1e-4, 0});
}

TEST_CASE("layer norm of a constant row is the bias, with a finite gradient") {
  const Evaluated got = evaluate([](Inputs a) { return layer_norm(a[0], a[1], a[2]); },
                                 {row({7, 7, 7, 7}), row({1, 1, 1, 1}), row({0.1, 0.2, 0.3, 0.4})}, row({1, 2, 3, 4}));
  check_near(got.value, row({0.1, 0.2, 0.3, 0.4}));
  check_near(got.grads[0], row({-474.3416490, -158.1138830, 158.1138830, 474.3416490}));
  check_equal(got.grads[1], row({0, 0, 0, 0}));
  check_equal(got.grads[2], row({1, 2, 3, 4}));
}

TEST_CASE("layer norm of a row of width one is the bias, with zero gradient") {
  const Evaluated got = evaluate([](Inputs a) { return layer_norm(a[0], a[1], a[2]); },
                                 {array({2, 1}, {3, 5}), row({2}), row({0.25})}, array({2, 1}, {1, 2}));
  check_equal(got.value, array({2, 1}, {0.25, 0.25}));
  check_equal(got.grads[0], array({2, 1}, {0, 0}));
  check_equal(got.grads[1], row({0}));
  check_equal(got.grads[2], row({3}));
}

TEST_CASE("layer norm and its gradients agree with a plain loop for many shapes") {
  for (const index_t width : {2, 3, 8, 15, 16, 17, 64, 100, 257, 1000}) {
    for (const index_t rows : {1, 3, 130}) {
      INFO(rows, " x ", width);
      const Array x = sample({rows, width}, width, -2, 3), weight = sample({width}, 2, 0.5, 2),
                  bias = sample({width}, 3);
      const Array dy = sample({rows, width}, 4);
      const Evaluated got = evaluate([](Inputs a) { return layer_norm(a[0], a[1], a[2]); }, {x, weight, bias}, dy);
      const Plain want(x, weight, bias, dy, 1e-5);
      check_near(got.value, want.y, {tolerance(1e-12, 1e-5), tolerance(1e-13, 2e-6)});
      // With width 2 the gradient is nearly zero: a difference of terms that almost cancel.
      check_near(got.grads[0], want.dx, {tolerance(1e-10, 1e-4), tolerance(1e-11, width == 2 ? 2e-5 : 5e-6)});
      check_near(got.grads[1], want.dweight, {tolerance(1e-11, 1e-5), tolerance(1e-12, 2e-5)});
      check_near(got.grads[2], want.dbias, {tolerance(1e-11, 1e-5), tolerance(1e-12, 2e-5)});
    }
  }
}

TEST_CASE(
    "layer norm computes the same gradients whichever are requested, and their sum if one tensor is passed twice") {
  for (const index_t rows : {1, 130, 300}) {
    INFO(rows);
    const Array x = sample({rows, 20}, 1, -2, 3), weight = sample({20}, 2, 0.5, 2), dy = sample({rows, 20}, 3);
    const Tensor fixed_x = Tensor(x), fixed_weight = Tensor(weight);
    const auto grads = [&](auto f, const std::vector<Array>& inputs) { return evaluate(f, inputs, dy).grads; };
    const std::vector<Array> all = grads([](Inputs a) { return layer_norm(a[0], a[1], a[2]); }, {x, weight, weight});
    check_equal(grads([&](Inputs a) { return layer_norm(a[0], fixed_weight, fixed_weight); }, {x})[0], all[0]);
    check_equal(grads([&](Inputs a) { return layer_norm(fixed_x, a[0], fixed_weight); }, {weight})[0], all[1]);
    check_equal(grads([&](Inputs a) { return layer_norm(fixed_x, fixed_weight, a[0]); }, {weight})[0], all[2]);
    const Array twice = grads([](Inputs a) { return layer_norm(a[0], a[1], a[1]); }, {x, weight})[1];
    check_near(twice, (Tensor(all[1]) + Tensor(all[2])).value(), {tolerance(1e-12, 1e-6), tolerance(1e-12, 1e-6)});
  }
}

TEST_CASE("a normalized row has length sqrt(width) without eps") {
  const Array y = layer_norm(sample({5, 24}, 1), {}, {}, 0).value();
  for (std::size_t r = 0; r < 5; ++r) {
    double squares = 0, total = 0;
    for (std::size_t c = 0; c < 24; ++c) {
      squares += std::pow(static_cast<double>(y(r, c)), 2);
      total += static_cast<double>(y(r, c));
    }
    check_near(squares, 24, {tolerance(1e-12, 1e-5), 0});
    check_near(total, 0, {0, tolerance(1e-12, 1e-5)});
  }
}

TEST_CASE("layer norm refuses invalid shapes and options") {
  const Tensor x = Tensor::zeros({2, 3});
  check_throws<ShapeError>([&] { (void)layer_norm(Tensor::zeros({2, 0})); },
                           "[layer_norm] expected x [..., C] with C at least 1, got");
  check_throws<ShapeError>([&] { (void)layer_norm(Tensor::scalar(1)); },
                           "[layer_norm] expected x [..., C] with C at least 1, got ()");
  check_throws<ShapeError>([&] { (void)layer_norm(x, row({1, 2})); },
                           "[layer_norm] expected weight and bias of shape (3), got (2)");
  check_throws<ShapeError>([&] { (void)layer_norm(x, {}, array({1, 3}, {1, 2, 3})); },
                           "expected weight and bias of shape");
  check_throws<ValueError>([&] { (void)layer_norm(x, {}, {}, -1e-5); },
                           "[layer_norm] expected an eps of at least 0, got");
  check_throws<ValueError>([&] { (void)layer_norm(x, {}, {}, std::nan("")); },
                           "[layer_norm] expected an eps of at least 0, got");
}

TEST_CASE("rms norm divides by the root of the mean square") {
  const Tensor x = array({2, 2}, {3, 4, 0, 0}), weight = row({2, 1});
  const double root = std::sqrt(12.5);
  check_near(rms_norm(x, {}, 1e-12).value(), array({2, 2}, {3 / root, 4 / root, 0, 0}));
  check_near(rms_norm(row({3, 4}), weight, 0).value(), row({6 / root, 4 / root}));
  check_near(rms_norm(row({1, 1}), {}, 3).value(), row({0.5, 0.5}));
}

TEST_CASE("rms norm refuses invalid shapes and options") {
  const Tensor x = array({1, 2}, {3, 4}), three = row({1, 1, 1});
  check_throws<ShapeError>([&] { rms_norm(x, three); }, "[rms_norm] expected weight and bias of shape");
  check_throws<ShapeError>([&] { rms_norm(Tensor::zeros({2, 0})); },
                           "[rms_norm] expected x [..., C] with C at least 1, got");
  check_throws<ValueError>([&] { rms_norm(x, {}, -1e-5); }, "[rms_norm] expected an eps of at least 0, got");
}
