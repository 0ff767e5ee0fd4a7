// QR factorization of small matrices by LAPACK through xtensor-blas, in double for both dtypes.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Orthonormalizes the columns of `a` [rows, columns], rows >= columns, in order: replaces A by the Q of A = QR in
/// which R has a positive diagonal, which is unique if the columns are independent.
void orthonormalize_columns(double* a, index_t rows, index_t columns);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
