// Statistics of the elements of an array, for reports and messages.
#pragma once

#include <xtape/core/config.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE::kernels {

struct Log2Histogram {
  double largest = 0;  ///< of the finite elements
  index_t not_finite = 0;
  index_t zeros = 0;
  int low = 0;                    ///< exponent of counts[0]
  std::vector<index_t> counts{};  ///< counts[i]: elements with 2^(low+i) <= |x| < 2^(low+i+1); the first and the last
                                  ///< are not 0; the smallest power holds all subnormal numbers, too
};

/// Counts the elements by the exponent of |x|, in one pass.
Log2Histogram log2_histogram(const real* x, index_t n);

/// Smallest and largest finite value, and how many elements are not finite.
struct ValueRange {
  double smallest = 0, largest = 0;  ///< of the finite elements; 0 if there are none
  index_t nan = 0, infinite = 0;
};
ValueRange value_range(const real* x, index_t n);

/// How many elements of [rows, width], rows `stride` apart, are below `low` and above `high`.
struct TailCounts {
  index_t below = 0, above = 0;
};
TailCounts tail_counts(const real* x, index_t rows, index_t width, index_t stride, real low, real high);

/// Sets alive[c] = 1 for every column c of [rows, width] that has an element above 0; leaves the others.
void mark_positive_columns(const real* x, index_t rows, index_t width, std::uint8_t* alive);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
