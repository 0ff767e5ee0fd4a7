// Factorizations of small matrices, by LAPACK through xtensor-blas; double in both flavours.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Makes the columns of `a` [rows, columns], rows >= columns, orthonormal, each against those before it: the Q of A =
/// QR in which R has a positive diagonal, which is unique if the columns are independent.
void orthonormalize_columns(double* a, index_t rows, index_t columns);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
