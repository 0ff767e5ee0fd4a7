#include "cases.hpp"

namespace xtape::test {

GradCases arithmetic_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array a = sample({2, 3}, 1), b = sample({2, 3}, 2, 0.5, 2), row = sample({3}, 3, 0.5, 2);
  const Array column = sample({2, 1}, 4, 0.5, 2), cube = sample({4, 1, 3}, 5, 0.5, 2), scalar = sample({}, 6, 0.5, 2);
  const Array positive = sample({2, 3}, 7, 0.5, 2);
  GradCases cases;
  const auto both = [&](const char* op, const Array& first, const TensorFunction& f) {
    cases.push_back({op, "same shape", {first, b}, f});
    cases.push_back({op, "row", {first, row}, f});
    cases.push_back({op, "column on the left", {column, positive}, f});
    cases.push_back({op, "both broadcast", {cube, column}, f});
    cases.push_back({op, "scalar", {first, scalar}, f});
  };
  both("add", a, [](Args x) { return add(x[0], x[1]); });
  both("sub", a, [](Args x) { return sub(x[0], x[1]); });
  both("mul", a, [](Args x) { return mul(x[0], x[1]); });
  both("div", a, [](Args x) { return div(x[0], x[1]); });
  both("pow", positive, [](Args x) { return pow(x[0], x[1]); });
  cases.push_back({"pow", "scalar exponent", {positive}, [](Args x) { return pow(x[0], real(-1.7)); }});
  cases.push_back({"affine", "", {a}, [](Args x) { return affine(x[0], real(-0.3), real(1.1)); }});
  cases.push_back({"affine", "shift only", {a}, [](Args x) { return x[0] + real(2); }});
  cases.push_back({"affine", "negation", {a}, [](Args x) { return -x[0]; }});
  cases.push_back({"div", "number over tensor", {b}, [](Args x) { return real(2) / x[0]; }});
  const auto extremes = [&](const char* title, const Array& first, const Array& second) {
    cases.push_back({"maximum", title, {first, second}, [](Args x) { return maximum(x[0], x[1]); }});
    cases.push_back({"minimum", title, {first, second}, [](Args x) { return minimum(x[0], x[1]); }});
  };
  extremes("same shape", sample({2, 3}, 101), sample({2, 3}, 102));
  extremes("row", sample({2, 3}, 101), sample({3}, 103));
  extremes("both broadcast", sample({4, 1, 3}, 104), sample({2, 1}, 105));
  extremes("scalar", sample({2, 3}, 101), sample({}, 106));
  return cases;
}

}  // namespace xtape::test
