// The library that computes products: our own kernels, or one that they are compared with.
#pragma once

#include <xtape/core/kernels/gemm.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

enum class GemmBackend { own, openblas, onednn };

/// Our own, or what the environment variable XTAPE_GEMM names: xtape, openblas or onednn. Throws ValueError for another
/// name, and for onednn where the library was built without it or computes in double.
GemmBackend gemm_backend();

/// Its name, version and kernels.
const char* backend_name();

/// The product of gemm, without a bias, by OpenBLAS or oneDNN on one thread. Nothing of c is read if beta is 0.
void blas_gemm(index_t m, index_t n, index_t k, real alpha, MatrixView a, MatrixView b, real beta, real* c,
               index_t stride_c);

/// Makes OpenBLAS run each call on the calling thread: sharing work among threads is ours. To be called before it.
void single_threaded_blas();

}  // namespace xtape::inline XTAPE_DTYPE::kernels
