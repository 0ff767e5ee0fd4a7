// Comparing numbers and choosing between them by a mask.
#pragma once

#include <xtape/core/kernels/strided_loop.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

enum class Compare { equal, not_equal, less, less_equal };

/// mask[i] = a[i * step_a] f b[i * step_b] with steps 0 or 1.
void compare(Compare f, const real* a, index_t step_a, const real* b, index_t step_b, bool* mask, index_t n);

/// mask[walk order] = a[strided] f b[strided_b].
void compare_strided(Compare f, const StridedLoop& loop, const real* a, const real* b, bool* mask);

/// y[i] = mask[i] ? a[i * step_a] : b[i * step_b] with steps 0 or 1.
void select(const bool* mask, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n);

/// y[walk order] = mask[walk order] ? a[strided] : b[strided_b].
void select_strided(const bool* mask, const StridedLoop& loop, const real* a, const real* b, real* y);

/// y[i] = mask[i] == when ? x[i] : 0, or added to y when `accumulate`.
void select_or_zero(const bool* mask, bool when, const real* x, real* y, bool accumulate, index_t n);

/// out[walk order] = mask[strided].
void expand_mask(const StridedLoop& loop, const bool* mask, bool* out);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
