// Reductions over axes. No axes means all; negative ones count from the end; of a scalar -1 and 0 may be named. Sums
// are accumulated in double.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Sum over axes; they are dropped, or kept with extent 1. A sum over nothing is 0. Throws ShapeError.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// Mean over axes. Throws ShapeError for an empty axis.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// Running sum along an axis: y[j] = x[0] + ... + x[j]. Throws ShapeError.
Tensor cumsum(const Tensor& x, index_t axis);

}  // namespace xtape::inline XTAPE_DTYPE
