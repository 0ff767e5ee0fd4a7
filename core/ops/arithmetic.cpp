#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>

namespace xtape::inline XTAPE_DTYPE {

using kernels::Binary;

Tensor add(const Tensor& a, const Tensor& b) {
  return Tape::record("add", {a, b}, broadcast_binary("add", Binary::add, a.value(), b.value()),
                      [same_a = a.shape() == b.shape()](const Array& dy, Grads& g) {
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

/// Adds dy * factor to the gradient of an input, without a temporary array if nothing was broadcast.
void add_product(const char* op, Grads& g, index_t input, const Shape& shape, const Array& dy, const Array& factor) {
  if (!g.needs(input)) return;
  if (shape == dy.shape() && shape == factor.shape()) {
    kernels::product(dy.data(), factor.data(), 1, g.buffer(input), numel(dy));
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
  Array y = empty_array(x.shape());
  kernels::affine(x.data(), scale, shift, y.data(), numel(y));
  return Tape::record("affine", {x}, Tensor(std::move(y)), [scale](const Array& dy, Grads& g) {
    if (scale == 1) g.pass(0);
    else g.add(0, dy, scale);
  });
}

Tensor operator/(real s, const Tensor& x) { return div(Tensor::scalar(s), x); }

Tensor pow(const Tensor& a, const Tensor& b) {
  Tensor y = broadcast_binary("pow", Binary::pow, a.value(), b.value());
  return Tape::record("pow", {a, b}, y, [a = a.detach(), b = b.detach()](const Array& dy, Grads& g) {
    const auto add_derivative = [&](index_t input, Binary derivative) {
      if (!g.needs(input)) return;
      const Tensor derivatives = broadcast_binary("pow", derivative, a.value(), b.value());
      g.add(input, broadcast_binary("pow", Binary::mul_no_nan, dy, derivatives.value()).value());
    };
    add_derivative(0, Binary::pow_base);      // b a^(b-1)
    add_derivative(1, Binary::pow_exponent);  // a^b log a
  });
}

Tensor pow(const Tensor& x, real exponent) { return pow(x, Tensor::scalar(exponent)); }

namespace {

/// Maximum or minimum. The chosen operand gets the gradient; at ties each gets half of it.
Tensor max_or_min(const char* op, Binary f, const Tensor& a, const Tensor& b) {
  const bool largest = f == Binary::max;
  return Tape::record(op, {a, b}, broadcast_binary(op, f, a.value(), b.value()),
                      [op, largest, a = a.detach(), b = b.detach()](const Array& dy, Grads& g) {
                        const auto add_share = [&](index_t input, bool a_first) {
                          if (!g.needs(input)) return;
                          const Tensor share = a_first ? broadcast_binary(op, Binary::max_share, a.value(), b.value())
                                                       : broadcast_binary(op, Binary::max_share, b.value(), a.value());
                          g.add(input, broadcast_binary(op, Binary::mul_no_nan, share.value(), dy).value());
                        };
                        add_share(0, largest);
                        add_share(1, !largest);
                      });
}

}  // namespace

Tensor maximum(const Tensor& a, const Tensor& b) { return max_or_min("maximum", Binary::max, a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return max_or_min("minimum", Binary::min, a, b); }

}  // namespace xtape::inline XTAPE_DTYPE
