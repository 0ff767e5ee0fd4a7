#include <xtape/core/kernels/levels/levels.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL {
namespace {

#include <xtape/core/kernels/levels/lanes.hpp>

double sum(const real* x, index_t n) {
  return sum_of(
      n, [x](index_t i) { return load(x + i); }, [x](index_t i) { return x[i]; });
}

double dot(const real* x, const real* y, index_t n) {
  return sum_of(
      n, [x, y](index_t i) { return load(x + i) * load(y + i); }, [x, y](index_t i) { return x[i] * y[i]; });
}

bool all_finite(const real* x, index_t n) {  // 0 * infinity and 0 * NaN are NaN
  return sum_of(n, [x](index_t i) { return 0 * load(x + i); }, [x](index_t i) { return 0 * x[i]; }) == 0;
}

void column_sums(const real* x, index_t rows, index_t columns, index_t stride, real* out) {
  for (index_t c = 0; c < columns; ++c) out[c] = 0;
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x + r * stride;
#pragma GCC ivdep
    for (index_t c = 0; c < columns; ++c) out[c] += row[c];
  }
}

}  // namespace

extern const ReduceTable reduce;
const ReduceTable reduce = {sum, sum_of_squares, dot, all_finite, column_sums};

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL
