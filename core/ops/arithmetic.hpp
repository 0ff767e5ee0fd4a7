// Elementwise arithmetic of two tensors, with NumPy's broadcasting. Shapes that do not broadcast are a ShapeError.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

Tensor add(const Tensor& a, const Tensor& b);  ///< a + b
Tensor sub(const Tensor& a, const Tensor& b);  ///< a - b
Tensor mul(const Tensor& a, const Tensor& b);  ///< a * b
Tensor div(const Tensor& a, const Tensor& b);  ///< a / b
Tensor neg(const Tensor& x);                   ///< -x

/// a^b. At a = 0 the derivatives are their limits where these are finite: by a 0 for b = 0, by b 0 for b >= 0.
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& x, real exponent);

/// scale * x + shift.
Tensor affine(const Tensor& x, real scale, real shift);

/// The larger or smaller of two, NaN if one is NaN. At ties each gets half the gradient.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);

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
