// Medians and ranges of numbers, some of which may be NaN or infinite.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace xtape {

/// Median; for an even number of values the mean of the middle two. NaN sorts above infinity. Throws ValueError for an
/// empty list.
double median(std::vector<double> values);

/// Median of the finite values; nothing if there are none.
std::optional<double> finite_median(std::span<const double> values);

/// Median, smallest and largest of the finite values. `count` of them are finite, `missing` are not.
struct Spread {
  double median = 0, low = 0, high = 0;
  std::size_t count = 0, missing = 0;
};
Spread spread_of(const std::vector<double>& values);

}  // namespace xtape
