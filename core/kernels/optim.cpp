#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/optim.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

double adam(const AdamStep& step, const real* gradient, real* value, real* first, real* second, index_t n) {
  return blocked_sum(n, [&](index_t begin, index_t end) {
    return isa().optim.adam(step, gradient + begin, value + begin, first + begin, second + begin, end - begin);
  });
}

double momentum(const MomentumStep& step, const real* gradient, real* value, real* velocity, index_t n) {
  return blocked_sum(n, [&](index_t begin, index_t end) {
    return isa().optim.momentum(step, gradient + begin, value + begin, velocity ? velocity + begin : nullptr,
                                end - begin);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
