// Permuting and broadcasting axes, by strides.
#pragma once

#include <xtape/core/kernels/isa/output.hpp>
#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y = x: x is the strided operand, y is contiguous in the order of the loop.
void copy_from_strided(const StridedLoop& loop, const real* x, Output y);

/// y = x: x is contiguous in the order of the loop, y is the strided operand, whose elements must be distinct.
void copy_to_strided(const StridedLoop& loop, const real* x, Output y);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
