#include <xtape/core/kernels/isa.hpp>

#include <cstdlib>
#include <cstring>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace plain {
extern const Isa isa;
}
#ifdef XTAPE_X86_ISAS
namespace v3 {
extern const Isa isa;
}
namespace v4 {
extern const Isa isa;
}
#endif

namespace {

/// XTAPE_ISA=v4 on a processor that has only v3 gives v3; any other name that is not supported gives plain.
const Isa& choose() {
  const char* wanted = std::getenv("XTAPE_ISA");
  const auto allowed = [wanted](const char* name) { return !wanted || !*wanted || std::strcmp(wanted, name) == 0; };
#ifdef XTAPE_X86_ISAS
  __builtin_cpu_init();
  const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool has_v4 = has_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (has_v4 && allowed("v4")) return v4::isa;
  if (has_v3 && (allowed("v3") || allowed("v4"))) return v3::isa;
#else
  (void)allowed;
#endif
  return plain::isa;
}

}  // namespace

const Isa& isa() {
  static const Isa& chosen = choose();
  return chosen;
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
