#include <xtape/core/gradcheck.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>

namespace xtape::inline XTAPE_DTYPE {

using kernels::Binary;
using kernels::Unary;

Tensor add(const Tensor& a, const Tensor& b) {
  return Tape::record("add", {a, b}, broadcast_binary("add", Binary::add, a.value(), b.value()),
                      [same_a = same_shape(a.shape(), b.shape())](const Array& dy, Grads& g) {
                        if (same_a) {
                          g.pass(0);
                          g.pass(1);
                        } else {
                          g.add(0, dy);
                          g.add(1, dy);
                        }
                      });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  return Tape::record("sub", {a, b}, broadcast_binary("sub", Binary::sub, a.value(), b.value()),
                      [](const Array& dy, Grads& g) {
                        g.add(0, dy);
                        g.add(1, dy, -1);
                      });
}

namespace {

/// Adds dy * factor to input i, straight into its buffer when nothing was broadcast.
void add_product(const char* op, Grads& g, std::size_t input, const Shape& shape, const Array& dy,
                 const Array& factor) {
  if (!g.needs(input)) return;
  if (same_shape(shape, dy.shape()) && same_shape(shape, factor.shape())) {
    const Output to = g.buffer(input);
    kernels::product(dy.data(), factor.data(), 1, to.data, to.add, count_of(dy));
  } else {
    g.add(input, broadcast_binary(op, Binary::mul, dy, factor).value());
  }
}

}  // namespace

Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor y = broadcast_binary("mul", Binary::mul, a.value(), b.value());
  return Tape::record("mul", {a, b}, y, [a = a.detach(), b = b.detach()](const Array& dy, Grads& g) {
    add_product("mul", g, 0, a.shape(), dy, b.value());
    add_product("mul", g, 1, b.shape(), dy, a.value());
  });
}

Tensor div(const Tensor& a, const Tensor& b) {
  Tensor y = broadcast_binary("div", Binary::div, a.value(), b.value());
  return Tape::record("div", {a, b}, y, [y, b = b.detach()](const Array& dy, Grads& g) {
    const Tensor quotient = broadcast_binary("div", Binary::div, dy, b.value());  // dy / b
    g.add(0, quotient.value());
    if (g.needs(1))
      g.add(1, broadcast_binary("div", Binary::mul, quotient.value(), y.value()).value(), -1);  // -dy a / b^2
  });
}

Tensor neg(const Tensor& x) { return affine(x, -1, 0); }

Tensor affine(const Tensor& x, real scale, real shift) {
  Array y(x.shape());
  kernels::affine(x.data(), scale, shift, y.data(), count_of(y));
  return Tape::record("affine", {x}, Tensor(std::move(y)), [scale](const Array& dy, Grads& g) {
    if (scale == 1) g.pass(0);
    else g.add(0, dy, scale);
  });
}

Tensor operator/(real s, const Tensor& x) { return div(Tensor::scalar(s), x); }

Tensor pow(const Tensor& a, const Tensor& b) {
  Tensor y = broadcast_binary("pow", Binary::pow, a.value(), b.value());
  return Tape::record("pow", {a, b}, y, [a = a.detach(), b = b.detach()](const Array& dy, Grads& g) {
    const auto mul_no_nan = [&](std::size_t input, Binary derivative) {
      if (!g.needs(input)) return;
      const Tensor derivatives = broadcast_binary("pow", derivative, a.value(), b.value());
      g.add(input, broadcast_binary("pow", Binary::mul_no_nan, dy, derivatives.value()).value());
    };
    mul_no_nan(0, Binary::pow_base);      // b a^(b-1)
    mul_no_nan(1, Binary::pow_exponent);  // a^b log a
  });
}

Tensor pow(const Tensor& x, real exponent) { return pow(x, Tensor::scalar(exponent)); }

Tensor exp(const Tensor& x) { return unary_op("exp", Unary::exp, x, false); }
Tensor expm1(const Tensor& x) { return unary_op("expm1", Unary::expm1, x, true); }
Tensor log(const Tensor& x) { return unary_op("log", Unary::log, x, true); }
Tensor log1p(const Tensor& x) { return unary_op("log1p", Unary::log1p, x, true); }
Tensor sqrt(const Tensor& x) { return unary_op("sqrt", Unary::sqrt, x, false); }
Tensor abs(const Tensor& x) { return unary_op("abs", Unary::abs, x, true); }
Tensor sin(const Tensor& x) { return unary_op("sin", Unary::sin, x, true); }
Tensor cos(const Tensor& x) { return unary_op("cos", Unary::cos, x, true); }

GradCases arithmetic_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array a = sample({2, 3}, 1), b = sample({2, 3}, 2, 0.5, 2), row = sample({3}, 3, 0.5, 2);
  const Array column = sample({2, 1}, 4, 0.5, 2), cube = sample({4, 1, 3}, 5, 0.5, 2), scalar = sample({}, 6, 0.5, 2);
  const Array positive = sample({2, 3}, 7, 0.5, 2), angles = sample({2, 3}, 8, -7, 7);
  GradCases cases;
  const auto both = [&](const char* op, const Array& first, TensorFunction f) {
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
  cases.push_back({"exp", "", {a}, [](Args x) { return exp(x[0]); }});
  cases.push_back({"log", "", {positive}, [](Args x) { return log(x[0]); }});
  cases.push_back({"sqrt", "", {positive}, [](Args x) { return sqrt(x[0]); }});
  cases.push_back({"expm1", "", {a}, [](Args x) { return expm1(x[0]); }});
  cases.push_back({"log1p", "", {positive}, [](Args x) { return log1p(x[0]); }});
  cases.push_back({"abs", "away from 0", {a}, [](Args x) { return abs(x[0]); }});
  cases.push_back({"sin", "", {angles}, [](Args x) { return sin(x[0]); }});
  cases.push_back({"cos", "", {angles}, [](Args x) { return cos(x[0]); }});
  return cases;
}

}  // namespace xtape::inline XTAPE_DTYPE
