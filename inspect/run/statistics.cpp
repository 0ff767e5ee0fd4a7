#include <xtape/core/error.hpp>
#include <xtape/inspect/run/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace xtape {

namespace {

std::vector<double> finite_values(std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double x) { return std::isfinite(x); });
  return finite;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) throw ValueError("median", "at least 1 value", 0);
  std::sort(values.begin(), values.end(), [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : std::midpoint(values[half - 1], values[half]);
}

std::optional<double> finite_median(std::span<const double> values) {
  std::vector<double> finite = finite_values(values);
  if (finite.empty()) return std::nullopt;
  return median(std::move(finite));
}

Spread spread_of(const std::vector<double>& values) {
  const std::vector<double> finite = finite_values(values);
  if (finite.empty()) return {.missing = values.size()};
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  return {median(finite), *low, *high, finite.size(), values.size() - finite.size()};
}

}  // namespace xtape
