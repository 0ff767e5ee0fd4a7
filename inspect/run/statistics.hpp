// What the seeds of one setting say together.
#pragma once

#include <cstddef>
#include <vector>

namespace xtape {

/// Median, least and largest of numbers that are finite; `missing` counts the others.
struct Spread {
  double median = 0, low = 0, high = 0;
  std::size_t count = 0, missing = 0;
};
Spread spread_of(const std::vector<double>& values);

}  // namespace xtape
