// Sums, extremes and moments. Sums run in a fixed order, in `real` over short blocks and in double over the blocks: the
// same bits for any number of threads.
#pragma once

#include <xtape/core/kernels/isa/output.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// out[o, i] = sum over j of x[o, j, i], divided by the divisor before it is rounded; x is outer x count x inner.
void sum_axis(const real* x, index_t outer, index_t count, index_t inner, double divisor, Output out);

/// Sum of all elements.
double sum(const real* x, index_t n);

/// Sum of squares, in double throughout; squares of doubles may overflow or underflow, see `norm`.
double sum_of_squares(const real* x, index_t n);

/// 2-norm, also right for elements whose squares overflow or underflow; infinite or NaN if an element is.
double norm(const real* x, index_t n);

/// The 2-norm of two vectors together, of norms a and b, without overflow; NaN if one is NaN.
double joint_norm(double a, double b);

/// The largest magnitude, 0 for n = 0; NaN if an element is infinite or NaN.
real largest_magnitude(const real* x, index_t n);

/// A bound of the magnitudes, which takes one pass of products and sums; NaN if an element is infinite or NaN.
double magnitude_bound(const real* x, index_t n);

/// False if an element is infinite or NaN.
bool all_finite(const real* x, index_t n);

/// y[r] = largest or smallest element of row r of [rows, width], width >= 1; NaN if one is NaN.
void row_max_min(const real* x, bool largest, real* y, index_t rows, index_t width);

/// dx[r, i] = dy[r] / k for the k elements of row r that equal y[r], 0 for the others.
void max_min_backward(const real* x, const real* y, const real* dy, Output dx, index_t rows, index_t width);

/// positions[r] = index of the first element of row r that equals y[r], or is NaN if y[r] is NaN.
void argument_of(const real* x, const real* y, index_t* positions, index_t rows, index_t width);

/// Of each row the mean, and as its spread the sum of the squared differences from it divided by `freedom`, or the root
/// of that, in double and rounded (y); width >= 1.
void moments(const real* x, double freedom, bool take_root, double* mean, double* spread, real* y, index_t rows,
             index_t width);

/// dx[r, i] = dy[r] / divisor (x[r, i] - mean[r]) / spread[r]. A null mean means 0; a spread of 0 gives 0.
void subtract_mean(const real* x, const double* mean, const real* dy, double divisor, const double* spread, Output dx,
                   index_t rows, index_t width);

/// The 2-norm of each row, in double and rounded (y).
void norms(const real* x, double* length, real* y, index_t rows, index_t width);

/// y[o, j, i] = sum over k <= j of x[o, k, i], or over k >= j when `reverse`, in double; x is outer x count x inner.
void cumulative_sum(const real* x, index_t outer, index_t count, index_t inner, bool reverse, Output y);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
