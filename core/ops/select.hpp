// Choosing between elements. The one that is not chosen has no influence on value or gradient, be it infinite or NaN.
#pragma once

#include <xtape/core/tape.hpp>

#include <limits>

namespace xtape::inline XTAPE_DTYPE {

constexpr real kInfinity = std::numeric_limits<real>::infinity();

/// a where the mask is true, b elsewhere; all three broadcast. Throws ShapeError.
// By value: references would lose against xtensor's own `where`, which a mask brings into the overload set.
Tensor where(Mask mask, Tensor a, Tensor b);

/// x with `value` where the mask is true; the mask broadcasts to x. Throws ShapeError.
Tensor masked_fill(const Tensor& x, const Mask& mask, real value);

/// x kept within low..high; either may be infinite. At the edges the gradient passes. Throws ValueError unless
/// low <= high.
Tensor clamp(const Tensor& x, real low, real high = kInfinity);

/// The larger or smaller of two, with broadcasting; NaN if one is NaN. At ties each gets half the gradient. Throws
/// ShapeError.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);

/// Comparisons of values, with broadcasting. They have no gradient and give a mask, never a tensor. Throw ShapeError.
Mask eq(const Tensor& a, const Tensor& b);  ///< a == b
Mask ne(const Tensor& a, const Tensor& b);  ///< a != b
Mask lt(const Tensor& a, const Tensor& b);  ///< a < b
Mask le(const Tensor& a, const Tensor& b);  ///< a <= b
Mask gt(const Tensor& a, const Tensor& b);  ///< a > b
Mask ge(const Tensor& a, const Tensor& b);  ///< a >= b

Mask eq(const Tensor& a, real b);
Mask ne(const Tensor& a, real b);
Mask lt(const Tensor& a, real b);
Mask le(const Tensor& a, real b);
Mask gt(const Tensor& a, real b);
Mask ge(const Tensor& a, real b);

}  // namespace xtape::inline XTAPE_DTYPE
