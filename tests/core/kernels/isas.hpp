// The kernels of every instruction set that this processor can run.
#pragma once

#include "support.hpp"

#include <xtape/core/kernels/isa.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE::kernels {
namespace plain {
extern const Isa isa;
}
#if defined(__x86_64__)
namespace v3 {
extern const Isa isa;
}
namespace v4 {
extern const Isa isa;
}
#endif
}  // namespace xtape::inline XTAPE_DTYPE::kernels

namespace xtape::test {

inline std::vector<const kernels::Isa*> usable_isas() {
  std::vector<const kernels::Isa*> out = {&kernels::plain::isa};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    out.push_back(&kernels::v3::isa);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      out.push_back(&kernels::v4::isa);
  }
#endif
  return out;
}

}  // namespace xtape::test
