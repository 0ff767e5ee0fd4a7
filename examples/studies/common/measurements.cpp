#include "measurements.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

namespace xtape::theory {

Mean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double value : values) sum += value;
  for (double value : values) squares += (value - sum / n) * (value - sum / n);
  return {sum / n, std::sqrt(squares / (n - 1) / n)};
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

double linear_coefficient(const std::vector<double>& x, const std::vector<double>& y) {
  const double x_mean = mean_of(x).mean, y_mean = mean_of(y).mean;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += (x[i] - x_mean) * (y[i] - y_mean);
    squares += (x[i] - x_mean) * (x[i] - x_mean);
  }
  return products / squares;
}

double exponent_of(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> log_x, log_y;
  for (double value : x) log_x.push_back(std::log(value));
  for (double value : y) log_y.push_back(std::log(value));
  return linear_coefficient(log_x, log_y);
}

double cpu_seconds(const std::function<void()>& call, int runs, double seconds) {
  const auto taken = [&](int calls) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < calls; ++i) call();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  int calls = 1;
  double time = taken(calls);
  while (time < seconds) {
    calls *= 2;
    time = taken(calls);
  }
  double best = time / calls;
  for (int run = 1; run < runs; ++run) best = std::min(best, taken(calls) / calls);
  return best;
}

}  // namespace xtape::theory
