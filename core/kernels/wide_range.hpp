// Sums and moments in long double, for rows and columns whose sums or squares leave the range of `real` or of double
// although the result is an ordinary number. They are slow: kernels call them only where the plain loop gives a number
// that cannot be trusted.
#pragma once

#include <xtape/core/config.hpp>

#include <limits>

namespace xtape::inline XTAPE_DTYPE::kernels {

using Wide = long double;
static_assert(std::numeric_limits<Wide>::max_exponent > 2 * std::numeric_limits<double>::max_exponent + 64,
              "long double must hold sums of squares of doubles");

/// n elements, `stride` apart: a row, or a column of a matrix.
struct Elements {
  const real* x;
  index_t n, stride = 1;

  Wide operator[](index_t i) const { return static_cast<Wide>(x[i * stride]); }
};

/// Column c of a matrix, which may be null if it has no rows.
inline Elements column_of(const real* x, index_t c, index_t rows, index_t columns) {
  return {offset_pointer(x, c), rows, columns};
}

/// x_hat = (x - mean) / divisor, or 0 for a divisor of 0: then all elements are equal.
struct WideNorm {
  Wide mean, divisor;

  Wide x_hat(Wide x) const { return divisor == 0 ? 0 : (x - mean) / divisor; }
};

struct WideMoments {
  Wide mean, squares;  ///< squares: the sum of the squared differences from the mean
};

Wide wide_sum(const Elements& x);
Wide wide_sum_of_squares(const Elements& x);

/// n >= 1. Equal elements have exactly their value as mean, and squares of 0.
WideMoments wide_moments(const Elements& x);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
