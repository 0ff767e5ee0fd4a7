// Boolean masks: made by comparisons or from lengths, used to choose between elements. An element that is not chosen
// has no influence on values or gradients, even if it is infinite or NaN.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// a where the mask is true, b elsewhere; all three broadcast. Throws ShapeError if they do not.
// Arguments by value: a mask brings xtensor's own `where` into the overload set, and references would lose against it.
Tensor where(Mask mask, Tensor a, Tensor b);

/// x with `value` where the mask is true; the mask broadcasts to the shape of x. Throws ShapeError if it does not.
Tensor masked_fill(const Tensor& x, const Mask& mask, real value);

/// Comparisons with broadcasting. They give a mask and have no gradient. Throw ShapeError if the shapes do not
/// broadcast.
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

/// The key_padding of attention for sequences of the given lengths [B] -> [B, keys]: true from each length on. Throws
/// ShapeError unless lengths is [B], IndexError for a length outside 0..keys, ValueError for a negative `keys`.
Mask padding_mask(const IndexArray& lengths, index_t keys);

/// The mask that `causal` of attention means -> [queries, keys]: true where key s > t + keys - queries for query t, so
/// that the last query sees all keys. Throws ValueError for a negative size.
Mask causal_mask(index_t queries, index_t keys);

}  // namespace xtape::inline XTAPE_DTYPE
