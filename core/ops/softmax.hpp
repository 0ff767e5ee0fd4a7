// Softmax along an axis. Shifted by the maximum, so large inputs are safe; a row of minus infinities gives zeros (and
// zero gradients) instead of NaN.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

/// exp(x) / sum(exp(x)) along `axis`. Throws ShapeError.
Tensor softmax(const Tensor& x, index_t axis = -1);

/// x - log(sum(exp(x))) along `axis`. Throws ShapeError.
Tensor log_softmax(const Tensor& x, index_t axis = -1);

}  // namespace xtape::inline XTAPE_FLAVOUR
