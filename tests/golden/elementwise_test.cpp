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
  };
  add_binary(table, "add", add);
  add_binary(table, "sub", sub);
  add_binary(table, "mul", mul);
  add_binary(table, "div", div);
  add_binary(table, "pow", pow);
  add_unary(table, "exp", {"matrix", "wide"}, exp, kEachElement);
  add_unary(table, "log", {"matrix", "wide"}, log, kEachElement);
  add_unary(table, "sqrt", {"matrix", "wide"}, sqrt, kEachElement);
  return table;
}

GoldenTable activations() {
  GoldenTable table;
  const auto both = {"matrix", "wide"};
  add_unary(table, "tanh", {both.begin(), both.end()}, tanh);
  add_unary(table, "sigmoid", {both.begin(), both.end()}, sigmoid);
  add_unary(table, "relu", {both.begin(), both.end()}, relu, kEachElement);
  for (const char* title : both) {
    table.push_back({std::string("gelu/") + title, [](Golden& g) { return gelu(g.in("x")); }});
    table.push_back({std::string("gelu_tanh/") + title, [](Golden& g) { return gelu(g.in("x"), Gelu::tanh); }});
  }
  return table;
}

}  // namespace

GoldenTable elementwise_golden_cases() { return joined({arithmetic(), activations()}); }

TEST_CASE("elementwise ops agree with golden values") { check_golden(elementwise_golden_cases()); }

}  // namespace xtape::test
