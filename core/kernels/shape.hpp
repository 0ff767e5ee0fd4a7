// Reordering and broadcasting of axes, by strides.
#pragma once

#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y[walk order] = x[strided], y contiguous; added to y when `accumulate`.
void copy_from_strided(const StridedLoop& loop, const real* x, real* y, bool accumulate);

/// y[strided] = x[walk order], x contiguous; added to y when `accumulate`. The places in y must be distinct.
void copy_to_strided(const StridedLoop& loop, const real* x, real* y, bool accumulate);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
