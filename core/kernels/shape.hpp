// Reordering and broadcasting of axes, by strides.
#pragma once

#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y[walk order] = x[strided], y contiguous; added to y when `accumulate`.
void gather_strided(const Walk& walk, const real* x, real* y, bool accumulate);

/// y[strided] = x[walk order], x contiguous; added to y when `accumulate`. The places in y must be distinct.
void scatter_strided(const Walk& walk, const real* x, real* y, bool accumulate);

/// y[walk order] = f(a[strided], b[strided_b]).
void binary_strided(Binary f, const Walk& walk, const real* a, const real* b, real* y);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
