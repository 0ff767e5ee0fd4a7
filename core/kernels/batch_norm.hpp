// Batch normalization of the columns of a [rows, columns] matrix.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// x_hat = (x - mean) / divisor for each column, with divisor = sqrt(variance + eps); 0 where the divisor is 0.
struct ColumnNorm {
  const double* mean;
  const double* divisor;
};

/// Mean, biased variance and divisor of each column; rows >= 1. Each block of rows gets its moments in two passes, and
/// the blocks are combined in double (Chan, Golub, LeVeque 1983).
void column_moments(const real* x, double eps, double* mean, double* variance, double* divisor, index_t rows,
                    index_t columns);

/// y = x_hat * weight + bias; weight and bias may be null.
void batch_norm(const real* x, const ColumnNorm& norm, const real* weight, const real* bias, real* y, index_t rows,
                index_t columns);

/// dy_sums[c] = sum of dy, dy_x_hat_sums[c] = sum of dy x_hat over column c.
void batch_norm_sums(const real* x, const ColumnNorm& norm, const real* dy, double* dy_sums, double* dy_x_hat_sums,
                     index_t rows, index_t columns);

/// dx = weight / divisor (dy - dy_sums / rows - x_hat dy_x_hat_sums / rows), or 0 where the divisor is 0. Without the
/// two sums (null) it is weight / divisor dy, for statistics that are constants.
void batch_norm_backward(const real* x, const ColumnNorm& norm, const real* weight, const real* dy,
                         const double* dy_sums, const double* dy_x_hat_sums, real* dx, bool accumulate, index_t rows,
                         index_t columns);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
