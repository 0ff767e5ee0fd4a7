// Comparisons of numbers, and choices between numbers by a mask.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>
#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// mask = a f b, a and b read in the order of the loop by its two strides, the mask contiguous.
void compare_strided(Compare f, const StridedLoop& loop, const real* a, const real* b, bool* mask);

/// y[i] = mask[i] ? a[i * step_a] : b[i * step_b] with steps 0 or 1.
void select(const bool* mask, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n);

/// y = mask ? a : b, a and b read in the order of the loop by its two strides, mask and y contiguous.
void select_strided(const bool* mask, const StridedLoop& loop, const real* a, const real* b, real* y);

/// y[i] = mask[i] == when ? x[i] : 0.
void select_or_zero(const bool* mask, bool when, const real* x, Output y, index_t n);

/// y[i] = keep[i] ? scale * x[i] : 0.
void select_scaled(const real* x, const std::uint8_t* keep, real scale, Output y, index_t n);

/// out = mask, read in the order of the loop by its first stride, `out` contiguous.
void expand_mask(const StridedLoop& loop, const bool* mask, bool* out);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
