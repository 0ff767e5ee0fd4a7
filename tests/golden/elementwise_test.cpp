// Arithmetic and activations against golden values.
#include "tables.hpp"

namespace xtape::test {

namespace {

constexpr GoldenLimits kEachElement = {.scale = Scale::element};

void add_unary(GoldenTable& table, const std::string& op, const std::vector<std::string>& titles,
               Tensor (*function)(const Tensor&), const GoldenLimits& limits = {}) {
  for (const std::string& title : titles)
    table.push_back({op + "/" + title, [function](Golden& g) { return function(g.in("x")); }, limits});
}

void add_binary(GoldenTable& table, const std::string& op, Tensor (*function)(const Tensor&, const Tensor&)) {
  for (const char* title : {"same shape", "row", "column on the left", "both broadcast", "scalar"})
    table.push_back({op + "/" + title, [function](Golden& g) { return function(g.in("a"), g.in("b")); }});
}

GoldenTable arithmetic() {
  GoldenTable table = {
      {"pow/scalar exponent", [](Golden& g) { return pow(g.in("x"), real(-1.75)); }},
      {"pow/negative base", [](Golden& g) { return pow(g.in("x"), real(3)); }},
      {"neg/matrix", [](Golden& g) { return -g.in("x"); }},
      {"affine/scale and shift", [](Golden& g) { return affine(g.in("x"), real(-0.375), real(1.25)); }},
      {"affine/shift", [](Golden& g) { return g.in("x") + real(2); }},
      {"div/number over tensor", [](Golden& g) { return real(2) / g.in("x"); }},
      {"minimum/ties", [](Golden& g) { return minimum(g.in("a"), g.in("b")); }},
      {"maximum/ties", [](Golden& g) { return maximum(g.in("a"), g.in("b")); }},
  };
  add_binary(table, "add", add);
  add_binary(table, "sub", sub);
  add_binary(table, "mul", mul);
  add_binary(table, "div", div);
  add_binary(table, "pow", pow);
  add_binary(table, "minimum", minimum);
  add_binary(table, "maximum", maximum);
  return table;
}

GoldenTable selection() {
  const auto chosen = [](Golden& g) { return where(g.mask("c"), g.in("a"), g.in("b")); };
  return {
      {"clamp/both sides", [](Golden& g) { return clamp(g.in("x"), real(-0.5), real(0.75)); }},
      {"clamp/below", [](Golden& g) { return clamp(g.in("x"), real(0.25)); }},
      {"clamp/above", [](Golden& g) { return clamp(g.in("x"), -kInfinity, real(0.25)); }},
      {"where/same shape", chosen},
      {"where/broadcast", chosen},
      {"masked_fill/same shape", [](Golden& g) { return masked_fill(g.in("x"), g.mask("mask"), real(-2.5)); }},
      {"masked_fill/row", [](Golden& g) { return masked_fill(g.in("x"), g.mask("mask"), 0); }},
  };
}

GoldenTable functions() {
  GoldenTable table;
  add_unary(table, "exp", {"matrix", "wide"}, exp, kEachElement);
  add_unary(table, "expm1", {"matrix", "small"}, expm1, kEachElement);
  add_unary(table, "expm1", {"wide"}, expm1);  // near y = -1, torch's derivative y + 1 loses all digits
  add_unary(table, "log", {"matrix", "wide"}, log, kEachElement);
  add_unary(table, "log1p", {"matrix", "small"}, log1p, kEachElement);
  add_unary(table, "sqrt", {"matrix", "wide"}, sqrt, kEachElement);
  add_unary(table, "abs", {"matrix"}, abs);
  add_unary(table, "sin", {"matrix", "wide"}, sin);
  add_unary(table, "cos", {"matrix", "wide"}, cos);
  return table;
}

GoldenTable activations() {
  GoldenTable table = {
      {"elu/alpha", [](Golden& g) { return elu(g.in("x"), real(1.5)); }},
      {"softplus/beta", [](Golden& g) { return softplus(g.in("x"), 2, 3); }},
  };
  const auto add = [&](const std::string& op, const std::function<Tensor(const Tensor&)>& function) {
    for (const char* title : {"/matrix", "/wide"})
      table.push_back({op + title, [function](Golden& g) { return function(g.in("x")); }});
  };
  add("tanh", tanh);
  add("sigmoid", sigmoid);
  add("relu", relu);
  add("leaky_relu", [](const Tensor& x) { return leaky_relu(x, real(0.125)); });
  add("elu", [](const Tensor& x) { return elu(x); });
  add("silu", silu);
  add("softplus", [](const Tensor& x) { return softplus(x); });
  add("softsign", softsign);
  add("gelu", [](const Tensor& x) { return gelu(x); });
  add("gelu_tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); });
  return table;
}

}  // namespace

GoldenTable elementwise_golden_cases() { return joined({arithmetic(), selection(), functions(), activations()}); }

TEST_CASE("elementwise ops agree with golden values") { check_golden(elementwise_golden_cases()); }

}  // namespace xtape::test
