#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/optim.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

double adam(const AdamStep& numbers, const real* gradient, real* value, real* first, real* second, index_t n) {
  return blocked_sum(n, [&](index_t b, index_t e) {
    return isa().optim.adam(numbers, gradient + b, value + b, first + b, second + b, e - b);
  });
}

double momentum(const MomentumStep& numbers, const real* gradient, real* value, real* velocity, index_t n) {
  return blocked_sum(n, [&](index_t b, index_t e) {
    return isa().optim.momentum(numbers, gradient + b, value + b, velocity ? velocity + b : nullptr, e - b);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
