#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/optimize.hpp>
#include <xtape/core/kernels/threads.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

void adam(const AdamNumbers& numbers, const real* gradient, real* value, real* first, real* second, index_t n) {
  parallel_ranges(n, index_t{1} << 15, [&](index_t b, index_t e) {
    level().optimize.adam(numbers, gradient + b, value + b, first + b, second + b, e - b);
  });
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
