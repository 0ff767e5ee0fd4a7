#include <xtape/core/error.hpp>
#include <xtape/core/kernels/gemm_backend.hpp>
#include <xtape/core/kernels/isa.hpp>

#include <cblas.h>
#ifdef XTAPE_ONEDNN
#include <oneapi/dnnl/dnnl.h>

#include <omp.h>
#endif

#include <cstdlib>
#include <string>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

#ifdef XTAPE_ONEDNN
constexpr bool kHasOnednn = true;
#else
constexpr bool kHasOnednn = false;
#endif

/// Our own kernels are the default, as OpenBLAS uses code for old processors on new ones that it does not know.
GemmBackend choose() {
  const char* wanted = std::getenv("XTAPE_GEMM");
  const std::string name = wanted ? wanted : "";
  if (name.empty() || name == "xtape") return GemmBackend::own;
  if (name == "openblas") return GemmBackend::openblas;
  if (name != "onednn")
    throw ValueError("gemm", "xtape, openblas or onednn in the environment variable XTAPE_GEMM", "'" + name + "'");
  if (!kHasOnednn)
    throw ValueError("gemm",
                     "XTAPE_GEMM is onednn, which this library was built without: it computes in float only, "
                     "and is built in where libdnnl-dev is installed");
  return GemmBackend::onednn;
}

void openblas_gemm(GemmShape shape, MatrixView a, MatrixView b, MatrixOut c, Epilogue epilogue) {
  single_threaded_blas();
  const auto ta = a.transposed ? CblasTrans : CblasNoTrans;
  const auto tb = b.transposed ? CblasTrans : CblasNoTrans;
  const auto i = [](index_t x) { return static_cast<blasint>(x); };
#ifdef XTAPE_DOUBLE
  const auto cblas_gemm = cblas_dgemm;
#else
  const auto cblas_gemm = cblas_sgemm;
#endif
  cblas_gemm(CblasRowMajor, ta, tb, i(shape.m), i(shape.n), i(shape.k), epilogue.alpha, a.data, i(a.stride), b.data,
             i(b.stride), epilogue.beta, c.data, i(c.stride));
}

#ifdef XTAPE_ONEDNN
void onednn_gemm(GemmShape shape, MatrixView a, MatrixView b, MatrixOut c, Epilogue epilogue) {
  [[maybe_unused]] static thread_local const bool alone = [] {
    omp_set_num_threads(1);  // for the calls of this thread
    return true;
  }();
  dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', shape.m, shape.n, shape.k, epilogue.alpha, a.data,
             a.stride, b.data, b.stride, epilogue.beta, c.data, c.stride);
}
#endif

}  // namespace

GemmBackend gemm_backend() {
  static const GemmBackend chosen = choose();
  return chosen;
}

const char* gemm_backend_name() {
  static const std::string name = [] {
    if (gemm_backend() == GemmBackend::openblas)
      return std::string(openblas_get_config()) + ", kernels " + openblas_get_corename();
#ifdef XTAPE_ONEDNN
    if (const dnnl_version_t* v = dnnl_version(); gemm_backend() == GemmBackend::onednn)
      return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
#endif
    return std::string("xtape ") + isa().name;
  }();
  return name.c_str();
}

void blas_gemm(GemmShape shape, MatrixView a, MatrixView b, MatrixOut c, Epilogue epilogue) {
#ifdef XTAPE_ONEDNN
  if (gemm_backend() == GemmBackend::onednn) return onednn_gemm(shape, a, b, c, epilogue);
#endif
  openblas_gemm(shape, a, b, c, epilogue);
}

void single_threaded_blas() {
  [[maybe_unused]] static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
