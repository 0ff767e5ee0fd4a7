// Accuracy of the float functions against the C library in double, over the whole range of float.
#include "isas.hpp"

#include <bit>
#include <cstdio>
#include <limits>
#include <vector>

using namespace xtape;
using namespace xtape::test;
using kernels::Unary;

namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

struct MathFunction {
  const char* name;
  Unary op;
  double (*exact)(double);
  double limit;  ///< in units in the last place of the result
  double floor;  ///< absolute error allowed for results smaller than this, where intermediate values underflow
};

const MathFunction kFunctions[] = {
    {"exp", Unary::exp, [](double x) { return std::exp(x); }, 1.5, 0},
    {"tanh", Unary::tanh, [](double x) { return std::tanh(x); }, 3, 0},
    {"sigmoid", Unary::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 3, 0},
    // For x down to -14, the rounding of x^2 becomes a relative error of x^2/2 units in the tail exp(-x^2/2).
    {"gelu", Unary::gelu, [](double x) { return x == -kInf ? 0 : x * normal_cdf(x); }, 80, 1.5e-43},
    {"log", Unary::log, [](double x) { return std::log(x); }, 1, 0},
    {"sqrt", Unary::sqrt, [](double x) { return std::sqrt(x); }, 0.51, 0},
};

/// Distance between adjacent floats at x.
double unit_at(double x) {
  const double size = std::max(std::abs(x), static_cast<double>(std::numeric_limits<float>::min()));
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

/// Every float whose bit pattern is a multiple of a prime, with both signs, and the ends of the range.
std::vector<real> sweep() {
  std::vector<real> out;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1009) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isfinite(x)) out.push_back(x);
  }
  // the range in which the functions are curved
  for (int i = -30000; i <= 30000; ++i) out.push_back(static_cast<real>(i) / 256);
  return out;
}

struct Worst {
  double units = 0;
  double at = 0;
};

Worst worst_error(const MathFunction& f, const std::vector<real>& x, const std::vector<real>& y) {
  Worst worst;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = f.exact(static_cast<double>(x[i])), got = static_cast<double>(y[i]);
    if (std::isnan(exact) && std::isnan(got)) continue;
    double error = kInf;
    if (static_cast<double>(static_cast<float>(exact)) == got) continue;
    if (std::isfinite(exact) && std::isfinite(got)) {
      const double difference = std::abs(got - exact);
      if (difference <= f.floor) continue;
      error = difference / unit_at(exact);
    }
    if (!(error <= worst.units)) worst = {error, static_cast<double>(x[i])};
  }
  return worst;
}

}  // namespace

TEST_CASE("float functions are within a few units in the last place over the whole range") {
  if (kDouble) return;  // double uses the C library's functions
  const std::vector<real> x = sweep();
  std::vector<real> y(x.size());
  for (const kernels::Isa* isa : usable_isas()) {
    for (const MathFunction& f : kFunctions) {
      isa->unary.value(f.op, {}, x.data(), y.data(), std::ssize(x));
      const Worst worst = worst_error(f, x, y);
      std::printf("%-5s %-8s worst error %6.2f units, at %.9g\n", isa->name, f.name, worst.units, worst.at);
      INFO(isa->name, " ", f.name, " at ", worst.at);
      CHECK(worst.units <= f.limit);
    }
  }
}

TEST_CASE("gelu is accurate to a few units in the last place where it is not tiny") {
  if (kDouble) return;
  std::vector<real> x;
  for (int i = -3000; i <= 20000; ++i) x.push_back(static_cast<real>(i) / 1000);
  std::vector<real> y(x.size());
  MathFunction f = kFunctions[3];
  for (const kernels::Isa* isa : usable_isas()) {
    isa->unary.value(f.op, {}, x.data(), y.data(), std::ssize(x));
    const Worst worst = worst_error(f, x, y);
    INFO(isa->name, " ", worst.units, " at ", worst.at);
    CHECK(worst.units <= 8);
  }
}

TEST_CASE("attention weights are exact to rounding, and the weight of a score of minus infinity is 0") {
  std::vector<real> scores = {0};
  for (int i = 1; i < 1'000'000; ++i) scores.push_back(static_cast<real>(-1e-4 * i));
  scores.push_back(-kInf);
  const index_t n = std::ssize(scores);
  for (const kernels::Isa* isa : usable_isas()) {
    const index_t lanes = isa->attention.lanes, stride = (n + lanes - 1) / lanes * lanes;
    std::vector<real> weights = scores;
    weights.resize(static_cast<std::size_t>(stride));
    kernels::SoftmaxRow sum;
    real inverse;
    isa->attention.weights({1, n, stride, n, 0, lanes}, weights.data(), nullptr, &sum, &inverse);
    CHECK(sum.shift == 0);
    CHECK(sum.inverse == inverse);
    CHECK(weights[0] == 1);
    CHECK(weights[scores.size() - 1] == 0);
    double worst = 0;
    for (std::size_t i = 0; i + 1 < scores.size(); ++i) {
      const double exact = std::exp(static_cast<double>(scores[i]));
      worst = std::max(worst, (std::abs(static_cast<double>(weights[i]) - exact) - 2.4e-38) / exact);
    }
    INFO(isa->name);
    CHECK(worst <= static_cast<double>(std::numeric_limits<real>::epsilon()));
  }
}

TEST_CASE("functions at the limits of the range") {
  const double max = static_cast<double>(std::numeric_limits<real>::max());
  const double tiny = static_cast<double>(std::numeric_limits<real>::denorm_min());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Edge {
    Unary op;
    double x, y;
  };
  const Edge edges[] = {
      {Unary::exp, -kInf, 0},       {Unary::exp, kInf, kInf},       {Unary::exp, max, kInf},
      {Unary::exp, -max, 0},        {Unary::exp, tiny, 1},          {Unary::exp, nan, nan},
      {Unary::exp, 0, 1},           {Unary::exp, -0.0, 1},          {Unary::tanh, -kInf, -1},
      {Unary::tanh, kInf, 1},       {Unary::tanh, max, 1},          {Unary::tanh, tiny, tiny},
      {Unary::tanh, -tiny, -tiny},  {Unary::tanh, nan, nan},        {Unary::tanh, 0, 0},
      {Unary::sigmoid, -kInf, 0},   {Unary::sigmoid, kInf, 1},      {Unary::sigmoid, -max, 0},
      {Unary::sigmoid, max, 1},     {Unary::sigmoid, tiny, 0.5},    {Unary::sigmoid, nan, nan},
      {Unary::gelu, -kInf, 0},      {Unary::gelu, kInf, kInf},      {Unary::gelu, max, max},
      {Unary::gelu, -max, 0},       {Unary::gelu, nan, nan},        {Unary::gelu, 0, 0},
      {Unary::gelu_tanh, -kInf, 0}, {Unary::gelu_tanh, kInf, kInf}, {Unary::gelu_tanh, max, max},
      {Unary::gelu_tanh, -max, 0},  {Unary::gelu_tanh, nan, nan},   {Unary::relu, -kInf, 0},
      {Unary::relu, kInf, kInf},    {Unary::relu, nan, nan},        {Unary::relu, -tiny, 0},
      {Unary::relu, tiny, tiny},    {Unary::log, 0, -kInf},         {Unary::log, kInf, kInf},
      {Unary::log, -1, nan},        {Unary::sqrt, -0.0, 0},         {Unary::sqrt, kInf, kInf},
      {Unary::sqrt, -1, nan},       {Unary::sqrt, nan, nan},
  };
  for (const kernels::Isa* isa : usable_isas()) {
    for (const Edge& edge : edges) {
      // Once in the vectorized part of the loop and once in the remainder.
      std::vector<real> x(35, static_cast<real>(edge.x)), y(35);
      isa->unary.value(edge.op, {}, x.data(), y.data(), 35);
      for (const std::size_t i : {std::size_t{0}, std::size_t{34}}) {
        INFO(isa->name, " function ", static_cast<int>(edge.op), " at ", edge.x, " element ", i);
        check_near(static_cast<double>(y[i]), static_cast<double>(static_cast<real>(edge.y)), {0, 0});
      }
    }
  }
}

TEST_CASE("exp with subnormal results and near overflow") {
  if (kDouble) return;
  const real x[] = {-87.5f, -100.0f, -103.0f, -103.9f, 88.5f, 88.7228f, 88.8f};
  real y[7];
  for (const kernels::Isa* isa : usable_isas()) {
    isa->unary.value(Unary::exp, {}, x, y, 7);
    for (int i = 0; i < 7; ++i) {
      INFO(isa->name, " at ", static_cast<double>(x[i]));
      const float want = static_cast<float>(std::exp(static_cast<double>(x[i])));
      check_near(static_cast<double>(y[i]), static_cast<double>(want), {2e-7, 1.5e-45});
    }
  }
}
