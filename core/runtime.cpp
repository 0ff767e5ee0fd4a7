#include <xtape/core/kernels/gemm_backend.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/runtime.hpp>

namespace xtape::inline XTAPE_DTYPE {

const char* dtype_name() { return sizeof(real) == sizeof(double) ? "f64" : "f32"; }

const char* isa_name() { return kernels::isa().name; }

const char* gemm_library() { return kernels::gemm_backend_name(); }

}  // namespace xtape::inline XTAPE_DTYPE
