// Softmax and log-sum-exp. Shifted by the maximum, so large inputs are safe; a row of minus infinities gives zeros (for
// the logarithms, minus infinities) and zero gradients instead of NaN.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// exp(x) / sum(exp(x)) along `axis`. Throws ShapeError.
Tensor softmax(const Tensor& x, index_t axis = -1);

/// x - log(sum(exp(x))) along `axis`. Throws ShapeError.
Tensor log_softmax(const Tensor& x, index_t axis = -1);

/// log(sum(exp(x))) over axes (none: all), which are dropped or kept with extent 1. Minus infinity, with zero gradient,
/// where every element is minus infinity, and over nothing. Throws ShapeError.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

}  // namespace xtape::inline XTAPE_DTYPE
