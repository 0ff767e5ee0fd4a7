#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/threads.hpp>

#include <cblas.h>

#include <algorithm>
#include <string>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

constexpr index_t kTileWork = index_t{1} << 22;  // multiply-adds worth a tile of their own
constexpr index_t kTileRows = 48;                // the smallest tile along the cut side
constexpr index_t kMaxTiles = 64;

/// OpenBLAS runs each call on the calling thread; the cut into tiles is ours.
bool single_threaded_blas() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  return done;
}

void product(index_t m, index_t n, index_t k, real alpha, Factor a, Factor b, real beta, real* c, index_t stride_c) {
  const auto ta = a.transposed ? CblasTrans : CblasNoTrans;
  const auto tb = b.transposed ? CblasTrans : CblasNoTrans;
  const auto i = [](index_t x) { return static_cast<blasint>(x); };
#ifdef XTAPE_DOUBLE
  cblas_dgemm(CblasRowMajor, ta, tb, i(m), i(n), i(k), alpha, a.data, i(a.stride), b.data, i(b.stride), beta, c,
              i(stride_c));
#else
  cblas_sgemm(CblasRowMajor, ta, tb, i(m), i(n), i(k), alpha, a.data, i(a.stride), b.data, i(b.stride), beta, c,
              i(stride_c));
#endif
}

/// Rows begin.. of a [m, k], or columns begin.. of b [k, n].
Factor rows_from(Factor a, index_t begin) {
  a.data += a.transposed ? begin : begin * a.stride;
  return a;
}
Factor columns_from(Factor b, index_t begin) {
  b.data += b.transposed ? begin * b.stride : begin;
  return b;
}

}  // namespace

void gemm(index_t m, index_t n, index_t k, real alpha, Factor a, Factor b, real beta, real* c, index_t stride_c) {
  if (m == 0 || n == 0) return;
  if (k == 0) {  // BLAS refuses strides of 0
    for (index_t r = 0; r < m; ++r) {
      if (beta == 0) fill(c + r * stride_c, 0, n);
      else scaled(c + r * stride_c, beta, c + r * stride_c, false, n);
    }
    return;
  }
  single_threaded_blas();
  const bool by_rows = m >= n;
  const index_t side = by_rows ? m : n;
  index_t tiles = std::clamp(m * n * k / kTileWork, index_t{1}, std::min(kMaxTiles, side / kTileRows + 1));
  if (tiles > 1) tiles += tiles % 2;
  const index_t piece = (((side + tiles - 1) / tiles + 15) / 16) * 16;
  parallel_ranges(side, piece, [&](index_t begin, index_t end) {
    if (by_rows) product(end - begin, n, k, alpha, rows_from(a, begin), b, beta, c + begin * stride_c, stride_c);
    else product(m, end - begin, k, alpha, a, columns_from(b, begin), beta, c + begin, stride_c);
  });
}

const char* gemm_backend() {
  static const std::string name = std::string(openblas_get_config()) + ", kernels " + openblas_get_corename();
  return name.c_str();
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
