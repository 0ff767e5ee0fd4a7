// Permuting and broadcasting axes, by strides.
#pragma once

#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y = x, or added when `accumulate`: x is the strided operand, y is contiguous in the order of the loop.
void copy_from_strided(const StridedLoop& loop, const real* x, real* y, bool accumulate);

/// y = x, or added when `accumulate`: x is contiguous in the order of the loop, y is the strided operand, whose
/// elements must be distinct.
void copy_to_strided(const StridedLoop& loop, const real* x, real* y, bool accumulate);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
