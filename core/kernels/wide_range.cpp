#include <xtape/core/kernels/wide_range.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

Wide wide_sum(const Elements& x) {
  Wide total = 0;
  for (index_t i = 0; i < x.n; ++i) total += x[i];
  return total;
}

Wide wide_sum_of_squares(const Elements& x) {
  Wide total = 0;
  for (index_t i = 0; i < x.n; ++i) total += x[i] * x[i];
  return total;
}

WideMoments wide_moments(const Elements& x) {
  const Wide first = x[0];  // subtracted, so that equal elements have no rounding
  index_t equal = 1;
  while (equal < x.n && x[equal] == first) ++equal;
  if (equal == x.n && first == first) return {first, 0};
  Wide shift = 0, squares = 0;
  for (index_t i = 0; i < x.n; ++i) shift += x[i] - first;
  shift /= static_cast<Wide>(x.n);
  for (index_t i = 0; i < x.n; ++i) {
    const Wide d = (x[i] - first) - shift;
    squares += d * d;
  }
  return {first + shift, squares};
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
