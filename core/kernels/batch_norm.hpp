// Batch normalization of the columns of a [rows, columns] matrix.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Mean, biased variance and divisor of each column; rows >= 1. Each block of rows gets its moments in two passes, and
/// the blocks are combined in double (Chan, Golub, LeVeque 1983).
void column_moments(const real* x, double eps, double* mean, double* variance, double* divisor, index_t rows,
                    index_t columns);

/// y = x_hat * weight + bias; weight and bias may be null.
void batch_norm(const NormColumns& in, const real* weight, const real* bias, real* y);

/// Overwrites the sums.
void batch_norm_sums(const NormColumns& in, const real* dy, ColumnSums sums);

/// dx = weight / divisor (dy - sums.dy / rows - x_hat sums.dy_x_hat / rows), or 0 where the divisor is 0. Without the
/// sums (null) it is weight / divisor dy, for statistics that are constants.
void batch_norm_backward(const NormColumns& in, const real* weight, const real* dy, ColumnSums sums, Output dx);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
