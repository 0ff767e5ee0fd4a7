#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/run/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace xtape {

Spread spread_of(const std::vector<double>& values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double x) { return std::isfinite(x); });
  if (finite.empty()) return {.missing = values.size()};
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  return {*finite_median(finite), *low, *high, finite.size(), values.size() - finite.size()};
}

}  // namespace xtape
