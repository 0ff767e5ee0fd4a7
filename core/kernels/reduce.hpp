// Sums in a fixed order: partial sums in `real` over short runs, the rest in double. The same bits for any number of
// threads.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

/// out[o, i] = scale * sum over j of x[o, j, i], or added to out when `accumulate`; x is outer x count x inner.
void sum_axis(const real* x, index_t outer, index_t count, index_t inner, double scale, real* out, bool accumulate);

/// Sum of all elements.
double sum(const real* x, index_t n);

/// Sum of squares, in double throughout.
double sum_of_squares(const real* x, index_t n);

/// 2-norm, right for elements whose squares overflow or vanish too; infinite or NaN if an element is.
double norm(const real* x, index_t n);

/// False if an element is infinite or NaN.
bool all_finite(const real* x, index_t n);

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
