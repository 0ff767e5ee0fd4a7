#include <xtape/core/array.hpp>
#include <xtape/core/kernels/gemm_backend.hpp>
#include <xtape/core/kernels/qr.hpp>

#include <algorithm>
#include <xtensor-blas/xlinalg.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

void orthonormalize_columns(double* a, index_t rows, index_t columns) {
  if (columns == 0) return;
  single_threaded_blas();
  xt::xarray<double> matrix(
      std::vector<std::size_t>{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)});
  std::copy_n(a, rows * columns, matrix.data());
  const auto [q, r] = xt::linalg::qr(matrix);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < columns; ++j) a[i * columns + j] = r(j, j) < 0 ? -q(i, j) : q(i, j);
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
