// Elementwise arithmetic with numpy's broadcasting. Operands of shapes that do not broadcast throw ShapeError.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

Tensor add(const Tensor& a, const Tensor& b);  ///< a + b
Tensor sub(const Tensor& a, const Tensor& b);  ///< a - b
Tensor mul(const Tensor& a, const Tensor& b);  ///< a * b
Tensor div(const Tensor& a, const Tensor& b);  ///< a / b
Tensor neg(const Tensor& x);                   ///< -x

/// a^b. At a = 0 the gradients are the limits where they are finite: 0 to a for b = 0, 0 to b for b >= 0.
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& x, real exponent);

/// scale * x + shift.
Tensor affine(const Tensor& x, real scale, real shift);

Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);  ///< exp(x) - 1, exact near 0
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);  ///< log(1 + x), exact near 0
/// Gradient 1/(2 sqrt(x)): infinite at 0, but 0 there if the upstream gradient is exactly 0.
Tensor sqrt(const Tensor& x);
Tensor abs(const Tensor& x);  ///< |x|; the gradient at 0 is 0
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator+(const Tensor& x, real s) { return affine(x, 1, s); }
inline Tensor operator+(real s, const Tensor& x) { return affine(x, 1, s); }
inline Tensor operator-(const Tensor& x, real s) { return affine(x, 1, -s); }
inline Tensor operator-(real s, const Tensor& x) { return affine(x, -1, s); }
inline Tensor operator*(const Tensor& x, real s) { return affine(x, s, 0); }
inline Tensor operator*(real s, const Tensor& x) { return affine(x, s, 0); }
inline Tensor operator/(const Tensor& x, real s) { return affine(x, 1 / s, 0); }
Tensor operator/(real s, const Tensor& x);  ///< s / x

}  // namespace xtape::inline XTAPE_DTYPE
