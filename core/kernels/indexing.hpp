// Reading and adding at positions given by an array of indices along one axis.
#pragma once

#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y[walk order] = x[strided + index[walk order] * step], or added to y when `accumulate`.
void gather_at(const StridedLoop& loop, const index_t* index, index_t step, const real* x, real* y, bool accumulate);

/// y[strided + index[walk order] * step] += x[walk order], in walk order: an index may repeat.
void scatter_add_at(const StridedLoop& loop, const index_t* index, index_t step, const real* x, real* y);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
