// The one matrix product of the library; everything else comes here. Row-major throughout.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

/// A stored matrix, used as it is or transposed. `stride` is the distance between stored rows.
struct Factor {
  const real* data;
  index_t stride;
  bool transposed = false;
};

/// c = alpha * a b + beta * c with a [m, k], b [k, n] (after any transposition) and c [m, n]. With beta = 0 the old
/// content of c is not read. Large products are cut into tiles that depend only on m, n and k and are shared among
/// threads, so the bits do not depend on the number of threads.
void gemm(index_t m, index_t n, index_t k, real alpha, Factor a, Factor b, real beta, real* c, index_t stride_c);

/// Name of the backend in use, for logs: "xtape v4", or OpenBLAS with its configuration.
const char* gemm_backend();

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
