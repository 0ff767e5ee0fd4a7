// Softmax and log-sum-exp, shifted by the maximum so that large inputs do not overflow. A row of minus infinities gives
// softmax 0, log-softmax and log-sum-exp minus infinity, and zero gradients instead of NaN. All throw ShapeError for an
// axis that does not exist or is named twice.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// exp(x) / sum(exp(x)) along `axis`; the shape of x.
Tensor softmax(const Tensor& x, index_t axis = -1);

/// x - log(sum(exp(x))) along `axis`; the shape of x.
Tensor log_softmax(const Tensor& x, index_t axis = -1);

/// log(sum(exp(x))) over axes (none: all), which are dropped, or kept with size 1 if `keep_dims`. Minus infinity over
/// no elements.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

}  // namespace xtape::inline XTAPE_DTYPE
