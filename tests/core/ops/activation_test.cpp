// Activations: values against the C library, saturation, infinities and NaN, derivatives at the edges.
#include "core/evaluate.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double normal_pdf(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::acos(-1.0)); }

struct Curve {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*value)(double);
  double (*derivative)(double);
};

double gelu_inner(double x) { return std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)); }

const Curve kCurves[] = {
    {"tanh", [](const Tensor& x) { return tanh(x); }, [](double x) { return std::tanh(x); },
     [](double x) { return 1 - std::tanh(x) * std::tanh(x); }},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); },
     [](double x) { return std::exp(-std::abs(x)) / std::pow(1 + std::exp(-std::abs(x)), 2); }},
    {"relu", [](const Tensor& x) { return relu(x); }, [](double x) { return x > 0 ? x : 0; },
     [](double x) { return x > 0 ? 1.0 : 0.0; }},
    {"gelu", [](const Tensor& x) { return gelu(x); }, [](double x) { return x * normal_cdf(x); },
     [](double x) { return normal_cdf(x) + x * normal_pdf(x); }},
    {"gelu, tanh form", [](const Tensor& x) { return gelu(x, Gelu::tanh); },
     [](double x) { return 0.5 * x * (1 + gelu_inner(x)); },
     [](double x) {
       const double inner = gelu_inner(x), c = std::sqrt(2 / std::acos(-1.0));
       return 0.5 * (1 + inner) + 0.5 * x * (1 - inner * inner) * c * (1 + 3 * 0.044715 * x * x);
     }},
};

}  // namespace

TEST_CASE("activations and their derivatives agree with formulas in double") {
  Array x(Shape{401});
  for (std::size_t i = 0; i < 401; ++i) x(i) = static_cast<real>(static_cast<double>(i) * 0.05 - 10);
  for (const Curve& curve : kCurves) {
    INFO(curve.name);
    const Evaluated got = evaluate([&](Inputs a) { return curve.op(a[0]); }, {x});
    Array value(Shape{401}), derivative(Shape{401});
    for (std::size_t i = 0; i < 401; ++i) {
      value(i) = static_cast<real>(curve.value(static_cast<double>(x(i))));
      derivative(i) = static_cast<real>(curve.derivative(static_cast<double>(x(i))));
    }
    check_near(got.value, value, {tolerance(1e-14, 1e-6), tolerance(1e-15, 1e-6)});
    check_near(got.grads[0], derivative, {tolerance(1e-13, 1e-6), tolerance(1e-14, 2e-6)});
  }
}

TEST_CASE("activations at infinities, zero and NaN") {
  const Tensor x = row({-kInf, kInf, 0, kNaN});
  check_equal(tanh(x).value(), row({-1, 1, 0, kNaN}));
  check_equal(sigmoid(x).value(), row({0, 1, 0.5, kNaN}));
  check_equal(relu(x).value(), row({0, kInf, 0, kNaN}));
  check_equal(gelu(x).value(), row({0, kInf, 0, kNaN}));
  check_equal(gelu(x, Gelu::tanh).value(), row({0, kInf, 0, kNaN}));
}

TEST_CASE("derivatives of activations at infinities are their limits") {
  const Array x = row({-kInf, kInf});
  const auto derivatives = [&](Tensor (*op)(const Tensor&)) {
    return evaluate([&](Inputs a) { return op(a[0]); }, {x}).grads[0];
  };
  check_equal(derivatives(kCurves[0].op), row({0, 0}));
  check_equal(derivatives(kCurves[1].op), row({0, 0}));
  check_equal(derivatives(kCurves[2].op), row({0, 1}));
  check_equal(derivatives(kCurves[3].op), row({0, 1}));
  check_equal(derivatives(kCurves[4].op), row({0, 1}));
}

TEST_CASE("the gradient of relu at zero is zero") {
  const Evaluated got = evaluate([](Inputs a) { return relu(a[0]); }, {row({-1, 0, -0.0, 2})});
  check_equal(got.value, row({0, 0, 0, 2}));
  check_equal(got.grads[0], row({0, 0, 0, 1}));
}

TEST_CASE("activations of large inputs saturate without overflow") {
  const Tensor x = row({-1e30, -1e4, -200, 200, 1e4, 1e30});
  check_equal(tanh(x).value(), row({-1, -1, -1, 1, 1, 1}));
  check_near(sigmoid(x).value(), row({0, 0, 0, 1, 1, 1}), {0, 1e-80});
  check_near(gelu(x).value(), row({0, 0, 0, 200, 1e4, 1e30}), {tolerance(1e-15, 1e-7), 0});
  check_near(gelu(x, Gelu::tanh).value(), row({0, 0, 0, 200, 1e4, 1e30}), {tolerance(1e-15, 1e-7), 0});
  for (const Curve& curve : kCurves) {
    INFO(curve.name);
    const Evaluated got = evaluate([&](Inputs a) { return curve.op(a[0]); }, {x.value()});
    const bool rises = curve.value(200) > 100;
    const Array ends = rises ? row({0, 0, 0, 1, 1, 1}) : row({0, 0, 0, 0, 0, 0});
    check_near(got.grads[0], ends, {tolerance(1e-15, 1e-7), 1e-80});
  }
}

TEST_CASE("activations keep shapes, including scalars and empty arrays") {
  for (const Curve& curve : kCurves) {
    INFO(curve.name);
    CHECK(curve.op(Tensor::zeros({})).rank() == 0);
    CHECK(shape_text(curve.op(Tensor::zeros({2, 0, 3})).shape()) == "(2,0,3)");
    const Evaluated got = evaluate([&](Inputs a) { return curve.op(a[0]); }, {Tensor::zeros({2, 0}).value()});
    CHECK(shape_text(got.grads[0].shape()) == "(2,0)");
  }
}
