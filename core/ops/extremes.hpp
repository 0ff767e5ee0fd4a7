// The largest and smallest elements along axes. No axes means all; negative ones count from the end; of a scalar -1
// and 0 may be named. NaN if one element is NaN. For the larger of two tensors see `maximum` in select.hpp.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Largest or smallest element over axes, which are dropped or kept with extent 1. Elements that tie share the gradient
/// evenly (as torch.amax). Throws ShapeError, for an empty axis too.
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// Position of the first largest or smallest element along an axis; the first NaN if there is one. No gradient. Throws
/// ShapeError, for an empty axis too.
IndexArray argmax(const Tensor& x, index_t axis, bool keep_dims = false);
IndexArray argmin(const Tensor& x, index_t axis, bool keep_dims = false);

}  // namespace xtape::inline XTAPE_DTYPE
