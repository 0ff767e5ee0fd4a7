// Unary and binary functions of single elements, with NumPy's broadcasting.
#include "check.hpp"

#include "fuzz/fuzz.hpp"

#include <cmath>

namespace xtape::fuzz {

namespace {

struct UnaryCase {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*f)(double);
  bool positive = false;
};

const UnaryCase kUnary[] = {
    {"neg", [](const Tensor& x) { return neg(x); }, [](double x) { return -x; }},
    {"exp", [](const Tensor& x) { return exp(x); }, [](double x) { return std::exp(x); }},
    {"expm1", [](const Tensor& x) { return expm1(x); }, [](double x) { return std::expm1(x); }},
    {"log", [](const Tensor& x) { return log(x); }, [](double x) { return std::log(x); }, true},
    {"log1p", [](const Tensor& x) { return log1p(x); }, [](double x) { return std::log1p(x); }, true},
    {"sqrt", [](const Tensor& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }, true},
    {"abs", [](const Tensor& x) { return abs(x); }, [](double x) { return std::abs(x); }},
    {"sin", [](const Tensor& x) { return sin(x); }, [](double x) { return std::sin(x); }},
    {"cos", [](const Tensor& x) { return cos(x); }, [](double x) { return std::cos(x); }},
    {"tanh", [](const Tensor& x) { return tanh(x); }, [](double x) { return std::tanh(x); }},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"relu", [](const Tensor& x) { return relu(x); }, [](double x) { return x > 0 ? x : 0; }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }, [](double x) { return x > 0 ? x : 0.01 * x; }},
    {"elu", [](const Tensor& x) { return elu(x); }, [](double x) { return x > 0 ? x : std::expm1(x); }},
    {"silu", [](const Tensor& x) { return silu(x); }, [](double x) { return x / (1 + std::exp(-x)); }},
    {"softplus", [](const Tensor& x) { return softplus(x); }, [](double x) { return std::log1p(std::exp(x)); }},
    {"softsign", [](const Tensor& x) { return softsign(x); }, [](double x) { return x / (1 + std::abs(x)); }},
    {"gelu", [](const Tensor& x) { return gelu(x); }, [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2)); }},
    {"gelu by tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); },
     [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
    {"affine", [](const Tensor& x) { return affine(x, 3, -1); }, [](double x) { return 3 * x - 1; }},
    {"pow 3", [](const Tensor& x) { return pow(x, 3); }, [](double x) { return x * x * x; }},
    {"clamp", [](const Tensor& x) { return clamp(x, -1, 0.5); },
     [](double x) { return std::fmin(std::fmax(x, -1), 0.5); }},
};

struct BinaryCase {
  const char* name;
  Tensor (*op)(const Tensor&, const Tensor&);
  double (*f)(double, double);
};

const BinaryCase kBinary[] = {
    {"add", add, [](double a, double b) { return a + b; }},
    {"sub", sub, [](double a, double b) { return a - b; }},
    {"mul", mul, [](double a, double b) { return a * b; }},
    {"div", div, [](double a, double b) { return a / b; }},
    {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); },
     [](double a, double b) { return std::pow(a, b); }},
    {"maximum", maximum, [](double a, double b) { return std::fmax(a, b); }},
    {"minimum", minimum, [](double a, double b) { return std::fmin(a, b); }},
};

struct ComparisonCase {
  const char* name;
  Mask (*op)(const Tensor&, const Tensor&);
  bool (*f)(double, double);
};

const ComparisonCase kComparisons[] = {
    {"eq", eq, [](double a, double b) { return a == b; }}, {"ne", ne, [](double a, double b) { return a != b; }},
    {"lt", lt, [](double a, double b) { return a < b; }},  {"le", le, [](double a, double b) { return a <= b; }},
    {"gt", gt, [](double a, double b) { return a > b; }},  {"ge", ge, [](double a, double b) { return a >= b; }},
};

Plain positive(Plain x) {
  for (double& value : x.values) value = std::abs(value) + 0.125;
  return x;
}

/// A key keeps the same elements of every tensor with the same number of elements. The mask holds 0 and 1/(1 - p).
void try_dropout(Choices& choices) {
  static constexpr double kProbabilities[] = {0.5, 0.25, 0, 1, -0.5, 1.5, NAN};
  const double p = kProbabilities[choices.below(7)];
  const Plain x = choices.numbers(choices.shape());
  const RandomKey key = {static_cast<std::uint64_t>(choices.below(256)), static_cast<std::uint64_t>(choices.below(3)),
                         5};
  std::optional<Plain> want;
  if (p >= 0 && p <= 1) {
    const Plain kept =
        plain_of(dropout(Tensor(array_of(plain(x.shape, [](const Index&) { return 1.0; }))), p, key).value());
    for (double factor : kept.values)
      if ((factor != 0 || p == 0) && (p == 1 || std::abs(factor * (1 - p) - 1) > 1e-12))
        fault("dropout: a wrong factor");
    want = x;
    for (std::size_t i = 0; i < x.values.size(); ++i) want->values[i] *= kept.values[i];
  }
  check("dropout", {x}, [&](const auto& t) { return dropout(t[0], p, key); }, want);
}

}  // namespace

void try_elementwise(Choices& choices) {
  const std::int64_t kind = choices.below(4);
  if (kind == 3) return try_dropout(choices);
  if (kind == 0) {
    const UnaryCase& c = kUnary[choices.below(std::size(kUnary))];
    Plain x = choices.numbers(choices.shape());
    if (c.positive) x = positive(x);
    return check(
        c.name, {x}, [&](const auto& t) { return c.op(t[0]); },
        plain(x.shape, [&](const Index& i) { return c.f(x.at(i)); }));
  }
  const Dimensions shape = choices.shape();
  const Plain a = positive(choices.numbers(shape)), b = positive(choices.numbers(choices.like(shape)));
  const auto together = broadcast(a.shape, b.shape);
  if (kind == 1) {
    const BinaryCase& c = kBinary[choices.below(std::size(kBinary))];
    std::optional<Plain> want;
    if (together) want = plain(*together, [&](const Index& i) { return c.f(a.at(i), b.at(i)); });
    return check(c.name, {a, b}, [&](const auto& t) { return c.op(t[0], t[1]); }, want);
  }
  const ComparisonCase& c = kComparisons[choices.below(std::size(kComparisons))];
  std::optional<Plain> want;
  if (together) want = plain(*together, [&](const Index& i) { return c.f(a.at(i), b.at(i)) ? 1 : 0; });
  check_plain(c.name, [&] { return plain_of(c.op(Tensor(array_of(a)), Tensor(array_of(b)))); }, want);
}

}  // namespace xtape::fuzz
