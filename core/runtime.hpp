// What this process computes with, as text for logs and reports.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// "f32" or "f64".
const char* dtype_name();

/// The instruction set of the kernels: "plain", "v3" or "v4" (x86-64 levels).
const char* isa_name();

/// The library that multiplies matrices, with its version and kernels: "xtape v3". Throws ValueError if the environment
/// variable XTAPE_GEMM names none.
const char* gemm_library();

}  // namespace xtape::inline XTAPE_DTYPE
