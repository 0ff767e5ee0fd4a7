// Unary functions: accuracy over the whole range, infinities and NaN, derivatives at kinks and limits, errors.
#include "core/evaluate.hpp"

#include <bit>
#include <functional>
#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

constexpr real kRealMax = std::numeric_limits<real>::max();

using Op = std::function<Tensor(const Tensor&)>;

/// Every `stride`th of all bit patterns of a float, as an array: all exponents and signs, infinities and NaN.
Array float_sweep(std::uint32_t stride) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  Array out = empty_array({std::ssize(values)});
  for (std::size_t i = 0; i < values.size(); ++i) out.data()[i] = static_cast<real>(values[i]);
  return out;
}

/// Distance in units in the last place of `want`; a subnormal counts in the smallest unit.
double units(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  if (!std::isfinite(got) || !std::isfinite(want)) return kInf;
  constexpr int digits = std::numeric_limits<real>::digits, lowest = std::numeric_limits<real>::min_exponent;
  const int exponent = std::max(lowest, want == 0 ? lowest : std::ilogb(want) + 1);
  return std::abs(got - want) / std::ldexp(1.0, exponent - digits);
}

void check_accuracy(const char* name, const Op& op, double (*reference)(double), double limit) {
  const Array x = float_sweep(9973);
  const Tensor result = op(Tensor(x));
  double worst = 0, where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = static_cast<double>(static_cast<real>(reference(static_cast<double>(x.data()[i]))));
    const double error = units(static_cast<double>(result.data()[i]), want);
    if (error > worst) {
      worst = error;
      where = static_cast<double>(x.data()[i]);
    }
  }
  INFO(name, ": ", worst, " units at ", where);
  CHECK(worst <= limit);
}

/// Gradient of sum(upstream * op(x)).
Array gradient(const Op& op, const Array& x, const Array& upstream) {
  return evaluate([&](std::span<const Tensor> a) { return op(a[0]); }, {x}, upstream).grads[0];
}

void check_point(const Op& op, double x, double value, double derivative) {
  const Array at = row({x});
  check_near(op(Tensor(at)).value(), row({value}));
  check_near(gradient(op, at, row({1})), row({derivative}));
}

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

TEST_CASE(
    "exp, log, log1p, expm1, softplus, sin and cos are accurate to a few units in the last place over all floats") {
  check_accuracy("exp", [](const Tensor& x) { return exp(x); }, std::exp, tolerance(1, 4));
  check_accuracy("log", [](const Tensor& x) { return log(x); }, std::log, tolerance(1, 2));
  check_accuracy("log1p", [](const Tensor& x) { return log1p(x); }, std::log1p, tolerance(1, 3));
  check_accuracy("expm1", [](const Tensor& x) { return expm1(x); }, std::expm1, tolerance(1, 4));
  check_accuracy("sin", [](const Tensor& x) { return sin(x); }, std::sin, 1);
  check_accuracy("cos", [](const Tensor& x) { return cos(x); }, std::cos, 1);
}

TEST_CASE("exp, log and sqrt at ordinary points") {
  const Limits limits{tolerance(1e-15, 3e-7), 0};
  check_near(exp(Tensor(row({1, -2.5, 0.125}))).value(), row({std::exp(1), std::exp(-2.5), std::exp(0.125)}), limits);
  check_near(log(Tensor(row({2, 0.3, 1e10}))).value(),
             row({std::log(2), std::log(static_cast<double>(real(0.3))), std::log(1e10)}), limits);
  check_near(sqrt(Tensor(row({2, 9, 1e-10}))).value(),
             row({std::sqrt(2), 3, std::sqrt(static_cast<double>(real(1e-10)))}), limits);
}

TEST_CASE("clamp keeps elements within the bounds, and NaN") {
  const Tensor x = row({-5, -1, 0.5, 2, 7, kNaN, kInf});
  check_equal(clamp(x, -1, 2).value(), row({-1, -1, 0.5, 2, 2, kNaN, 2}));
  check_equal(clamp(x, 0).value(), row({0, 0, 0.5, 2, 7, kNaN, kInf}));
  check_equal(clamp(x, -kInfinity, 0).value(), row({-5, -1, 0, 0, 0, kNaN, 0}));
  const Evaluated e = evaluate([](Inputs a) { return clamp(a[0], 0, 1); }, {row({-1, 0.5, 3})}, row({kNaN, 2, kInf}));
  check_equal(e.grads[0], row({0, 2, 0}));
}

TEST_CASE("clamp refuses a lower bound above the upper one") {
  const Tensor x = row({1});
  check_throws<ValueError>([&] { clamp(x, 2, 1); }, "[clamp] expected a lower bound of at most the upper, got");
  check_throws<ValueError>([&] { clamp(x, static_cast<real>(kNaN), 1); }, "[clamp]");
  check_equal(clamp(x, 2, 2).value(), row({2}));
}

TEST_CASE("sin and cos of moderate angles do not depend on a large one in the same vector") {
  const Array both = row({0.5, -3, 1e30, 7}), moderate = row({0.5, -3, 0, 7});
  for (const Op& op : {Op([](const Tensor& x) { return sin(x); }), Op([](const Tensor& x) { return cos(x); })}) {
    const Array mixed = op(Tensor(both)).value(), alone = op(Tensor(moderate)).value();
    for (std::size_t i : {0u, 1u, 3u})
      check_near(static_cast<double>(mixed.data()[i]), static_cast<double>(alone.data()[i]),
                 {tolerance(1e-15, 1e-7), 0});
    check_near(static_cast<double>(gradient(op, both, row({0, 0, 0, 1})).data()[3]),
               static_cast<double>(gradient(op, moderate, row({0, 0, 0, 1})).data()[3]), {tolerance(1e-15, 1e-7), 0});
  }
}

TEST_CASE("activations at known points") {
  const Op silu_op = [](const Tensor& x) { return silu(x); };
  check_point(silu_op, 1, 0.7310585786300049, 0.9276705118714866);
  check_point(silu_op, 0, 0, 0.5);
  const Op leaky = [](const Tensor& x) { return leaky_relu(x, real(0.25)); };
  check_point(leaky, 2, 2, 1);
  check_point(leaky, -2, -0.5, 0.25);
  const Op elu_op = [](const Tensor& x) { return elu(x, real(1.5)); };
  check_point(elu_op, 2, 2, 1);
  check_point(elu_op, -1, -0.9481808382428366, 0.5518191617571635);
  const Op softsign_op = [](const Tensor& x) { return softsign(x); };
  check_point(softsign_op, 3, 0.75, 0.0625);
  check_point(softsign_op, -1, -0.5, 0.25);
  const Op softplus_op = [](const Tensor& x) { return softplus(x, 2); };
  check_point(softplus_op, 0, 0.34657359027997264, 0.5);
  check_point(softplus_op, -1, 0.06346400552148625, 0.11920292202211755);
  check_point(softplus_op, 30, 30, 1);  // above the threshold
  check_point([](const Tensor& x) { return abs(x); }, -3, 3, -1);
}

TEST_CASE("expm1 and log1p keep the precision of small arguments") {
  for (double x : {1e-10, -1e-10, 3e-6}) {
    const double exact = static_cast<double>(static_cast<real>(x));
    check_near(expm1(Tensor(row({x}))).value(), row({std::expm1(exact)}), {tolerance(1e-15, 2e-7), 0});
    check_near(log1p(Tensor(row({x}))).value(), row({std::log1p(exact)}), {tolerance(1e-15, 2e-7), 0});
  }
  check_near(gradient([](const Tensor& x) { return expm1(x); }, row({-30}), row({1})), row({std::exp(-30.0)}),
             {tolerance(1e-14, 1e-6), 0});
}

TEST_CASE("activations have their limits at the infinities and keep NaN") {
  const Array x = row({-kInf, kInf, kNaN});
  const auto check = [&](const Op& op, std::initializer_list<double> values,
                         std::initializer_list<double> derivatives) {
    check_equal(op(Tensor(x)).value(), row(values));
    check_equal(gradient(op, x, row({1, 1, 1})), row(derivatives));
  };
  check([](const Tensor& t) { return silu(t); }, {0, kInf, kNaN}, {0, 1, kNaN});
  check([](const Tensor& t) { return elu(t); }, {-1, kInf, kNaN}, {0, 1, kNaN});
  check([](const Tensor& t) { return softplus(t); }, {0, kInf, kNaN}, {0, 1, kNaN});
  check([](const Tensor& t) { return softsign(t); }, {-1, 1, kNaN}, {0, 0, kNaN});
  check([](const Tensor& t) { return abs(t); }, {kInf, kInf, kNaN}, {-1, 1, kNaN});
  check([](const Tensor& t) { return expm1(t); }, {-1, kInf, kNaN}, {0, kInf, kNaN});
}

TEST_CASE("softplus refuses a beta that is not positive") {
  for (double beta : {0.0, -1.0, kNaN})
    check_throws<ValueError>([&] { softplus(Tensor(row({1})), static_cast<real>(beta)); },
                             "[softplus] expected a positive beta, got");
}

TEST_CASE("unary functions keep the shape, also of empty tensors") {
  for (const Shape& shape : {Shape{}, Shape{0, 3}, Shape{2, 1, 3}}) {
    const Tensor x = Tensor::ones(shape);
    for (const Tensor& y : {abs(x), sin(x), silu(x), elu(x), softplus(x), softsign(x), leaky_relu(x)})
      CHECK(y.shape() == shape);
  }
}

TEST_CASE("activations and their derivatives agree with formulas in double") {
  Array x = empty_array({401});
  for (std::size_t i = 0; i < 401; ++i) x(i) = static_cast<real>(static_cast<double>(i) * 0.05 - 10);
  for (const Curve& curve : kCurves) {
    INFO(curve.name);
    const Evaluated got = evaluate([&](Inputs a) { return curve.op(a[0]); }, {x});
    Array value = empty_array({401}), derivative = empty_array({401});
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

TEST_CASE("every function of one number gives NaN for NaN, in its value and in its gradient") {
  const std::vector<std::pair<const char*, Op>> functions = {
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"expm1", [](const Tensor& x) { return expm1(x); }},
      {"log", [](const Tensor& x) { return log(x); }},
      {"log1p", [](const Tensor& x) { return log1p(x); }},
      {"sqrt", [](const Tensor& x) { return sqrt(x); }},
      {"abs", [](const Tensor& x) { return abs(x); }},
      {"sin", [](const Tensor& x) { return sin(x); }},
      {"cos", [](const Tensor& x) { return cos(x); }},
      {"clamp", [](const Tensor& x) { return clamp(x, -1, 1); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }},
      {"leaky_relu without slope", [](const Tensor& x) { return leaky_relu(x, 0); }},
      {"elu", [](const Tensor& x) { return elu(x); }},
      {"elu without alpha", [](const Tensor& x) { return elu(x, 0); }},
      {"silu", [](const Tensor& x) { return silu(x); }},
      {"softplus", [](const Tensor& x) { return softplus(x); }},
      {"softsign", [](const Tensor& x) { return softsign(x); }},
      {"gelu", [](const Tensor& x) { return gelu(x); }},
      {"gelu_tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); }},
  };
  for (const auto& function : functions) {
    for (const index_t n : {1, 40}) {  // narrower and wider than the registers
      INFO(std::string(function.first), ", ", n);
      Array x = empty_array({n});
      x.fill(static_cast<real>(kNaN));
      const Evaluated e = evaluate([&](Inputs a) { return function.second(a[0]); }, {x});
      check_equal(e.value, x);
      check_equal(e.grads[0], x);
    }
  }
}
