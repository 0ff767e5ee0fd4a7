// Batch normalization of the columns of a [rows, columns] matrix.
#pragma once

#include <xtape/core/kernels/isa/output.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// A matrix x, and x_hat = (x - mean) / divisor for each column, with divisor = sqrt(variance + eps); 0 where the
/// divisor is 0.
struct NormColumns {
  const real* x;
  index_t rows, columns;
  const double *mean, *divisor;
};

/// Mean, biased variance and divisor of each column; rows >= 1. Each block of rows gets its moments in two passes, and
/// the blocks are combined in double (Chan, Golub, LeVeque 1983).
void column_moments(const real* x, double eps, double* mean, double* variance, double* divisor, index_t rows,
                    index_t columns);

/// y = x_hat * weight + bias; weight and bias may be null.
void batch_norm(const NormColumns& in, const real* weight, const real* bias, real* y);

/// dy_sums[c] = sum of dy, dy_x_hat_sums[c] = sum of dy x_hat over column c.
void batch_norm_sums(const NormColumns& in, const real* dy, double* dy_sums, double* dy_x_hat_sums);

/// dx = weight / divisor (dy - dy_sums / rows - x_hat dy_x_hat_sums / rows), or 0 where the divisor is 0. Without the
/// two sums (null) it is weight / divisor dy, for statistics that are constants.
void batch_norm_backward(const NormColumns& in, const real* weight, const real* dy, const double* dy_sums,
                         const double* dy_x_hat_sums, Output dx);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
