// The library that multiplies matrices: our own kernels, or another one for comparison.
#pragma once

#include <xtape/core/kernels/gemm.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

enum class GemmBackend { own, openblas, onednn };

/// The backend that the environment variable XTAPE_GEMM names: xtape (the default), openblas or onednn. Throws
/// ValueError for another name, and for onednn if it is not built in (it computes in float only).
GemmBackend gemm_backend();

/// The name of the backend in use, its version and kernels.
const char* gemm_backend_name();

/// gemm without the bias, by OpenBLAS or oneDNN on the calling thread.
void blas_gemm(GemmShape shape, MatrixView a, MatrixView b, MatrixOut c, Epilogue epilogue);

/// Makes OpenBLAS compute on the calling thread, since our own pool shares the work. Call it before OpenBLAS.
void single_threaded_blas();

}  // namespace xtape::inline XTAPE_DTYPE::kernels
