// Batch normalisation: statistics of the columns of a [rows, columns] matrix.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Mean and biased variance of each column. rows >= 1. Blocks of rows in two passes each, put together in double (Chan,
/// Golub, LeVeque 1983).
void column_moments(const real* x, double* mean, double* variance, index_t rows, index_t columns);

/// y = (x - mean) inverse * gain + bias, all four [columns]; gain and bias may be null.
void batch_norm(const real* x, const double* mean, const double* inverse, const real* weight, const real* bias, real* y,
                index_t rows, index_t columns);

/// sums[c] = sum of dy, normal_sums[c] = sum of dy n over column c, with n = (x - mean) inverse.
void batch_norm_sums(const real* x, const double* mean, const double* inverse, const real* dy, double* sums,
                     double* normal_sums, index_t rows, index_t columns);

/// dx = gain inverse (dy - sums / rows - n normal_sums / rows), or gain inverse dy for null sums (fixed statistics).
void batch_norm_backward(const real* x, const double* mean, const double* inverse, const real* weight, const real* dy,
                         const double* sums, const double* normal_sums, real* dx, bool accumulate, index_t rows,
                         index_t columns);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
