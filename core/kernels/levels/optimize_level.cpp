#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/optimize.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL {
namespace {

#include <xtape/core/kernels/levels/math.hpp>

void adam(const AdamNumbers& numbers, const real* gradient, real* value, real* first, real* second, index_t n) {
  const real beta1 = static_cast<real>(numbers.beta1), rest1 = static_cast<real>(1 - numbers.beta1);
  const real beta2 = static_cast<real>(numbers.beta2), rest2 = static_cast<real>(1 - numbers.beta2);
  const real epsilon = static_cast<real>(numbers.epsilon), step = static_cast<real>(numbers.step);
  const real v_scale = static_cast<real>(numbers.v_scale), keep = static_cast<real>(numbers.keep);
  const real l2 = static_cast<real>(numbers.l2);
#pragma GCC ivdep
  for (index_t i = 0; i < n; ++i) {
    const real g = gradient[i] + l2 * value[i];
    const real m = beta1 * first[i] + rest1 * g;
    const real v = beta2 * second[i] + rest2 * g * g;
    first[i] = m;
    second[i] = v;
    value[i] = keep * value[i] - step * m / (square_root(v) * v_scale + epsilon);
  }
}

}  // namespace

extern const OptimizeTable optimize;
const OptimizeTable optimize = {adam};

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL
