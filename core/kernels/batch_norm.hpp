// Batch normalization of the columns of a [rows, columns] matrix.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Mean and biased variance of each column; rows >= 1. Each block of rows gets its moments in two passes, and the
/// blocks are combined in double (Chan, Golub, LeVeque 1983).
void column_moments(const real* x, double* mean, double* variance, index_t rows, index_t columns);

/// y = (x - mean) inverse_std * weight + bias, all four [columns]; weight and bias may be null.
void batch_norm(const real* x, const double* mean, const double* inverse_std, const real* weight, const real* bias,
                real* y, index_t rows, index_t columns);

/// dy_sums[c] = sum of dy, dy_x_hat_sums[c] = sum of dy x_hat over column c, with x_hat = (x - mean) inverse_std.
void batch_norm_sums(const real* x, const double* mean, const double* inverse_std, const real* dy, double* dy_sums,
                     double* dy_x_hat_sums, index_t rows, index_t columns);

/// dx = weight inverse_std (dy - dy_sums / rows - x_hat dy_x_hat_sums / rows). Without the two sums (null) it is weight
/// inverse_std dy, for statistics that are constants.
void batch_norm_backward(const real* x, const double* mean, const double* inverse_std, const real* weight,
                         const real* dy, const double* dy_sums, const double* dy_x_hat_sums, real* dx, bool accumulate,
                         index_t rows, index_t columns);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
