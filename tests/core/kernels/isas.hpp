// Every level of the kernels that this processor can run.
#pragma once

#include "support.hpp"

#include <xtape/core/kernels/isa/tables.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE::kernels {
namespace plain {
extern const Level level;
}
#if defined(__x86_64__)
namespace v3 {
extern const Level level;
}
namespace v4 {
extern const Level level;
}
#endif
}  // namespace xtape::inline XTAPE_DTYPE::kernels

namespace xtape::test {

inline std::vector<const kernels::Level*> usable_levels() {
  std::vector<const kernels::Level*> out = {&kernels::plain::level};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    out.push_back(&kernels::v3::level);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      out.push_back(&kernels::v4::level);
  }
#endif
  return out;
}

}  // namespace xtape::test
