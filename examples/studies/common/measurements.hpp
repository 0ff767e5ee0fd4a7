// Statistics of measurements.
#pragma once

#include <functional>
#include <vector>

namespace xtape::theory {

struct Mean {
  double mean;
  double error;  ///< standard error of the mean
};
Mean mean_of(const std::vector<double>& values);
double median_of(std::vector<double> values);

/// Coefficient b of the least-squares line y = a + b x.
double linear_coefficient(const std::vector<double>& x, const std::vector<double>& y);
/// Exponent p of y = c x^p, by least squares of the logarithms.
double exponent_of(const std::vector<double>& x, const std::vector<double>& y);

/// Least processor seconds of one call, over `runs` runs of as many calls as take `seconds` together.
double cpu_seconds(const std::function<void()>& call, int runs = 3, double seconds = 0.02);

}  // namespace xtape::theory
