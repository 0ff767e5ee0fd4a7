// A time series with equal intervals, as training data for a forecast.
#pragma once

#include <xtape/core/shape.hpp>

#include <string>
#include <vector>

namespace xtape {

struct SeriesOptions {
  index_t context = 72;    ///< number of values that the forecast sees, T
  index_t horizon = 24;    ///< number of values to forecast, H
  index_t season = 24;     ///< period of the series: 24 for hourly values; at most T
  std::uint64_t seed = 0;  ///< of the training windows
};

/// A series split in time: the first 70 % for training, the next 15 % for validation, the rest for test. No window
/// crosses a border, so validation and test values are never used in training.
class SeriesData {
 public:
  /// Throws ValueError if a value is not finite, all seasons of the training part are equal, a part is shorter than a
  /// window of T + H values, or a size is below 1.
  SeriesData(std::vector<double> values, const SeriesOptions& options);

  enum class Part { train, validation, test };

  const SeriesOptions& options() const { return options_; }
  double stddev() const { return stddev_; }                ///< of the training values
  double change_stddev() const { return change_stddev_; }  ///< root mean square of their x[t] - x[t-season]
  double value(index_t place) const { return values_.at(place); }

  /// Start positions of `batch` random windows of the training part. They depend on (seed, step) only.
  std::vector<index_t> train_windows(index_t step, index_t batch) const;
  /// Start positions of the windows of a part, at a distance of `step` values.
  std::vector<index_t> windows(Part part, index_t step = 1) const;

  /// Value t = 0..H-1 after the context of a window.
  double truth(index_t window, index_t t) const { return value(window + options_.context + t); }
  /// The seasonal-naive forecast of this value: the last known value at the same
  /// time of the season.
  double seasonal_naive(index_t window, index_t t) const;

 private:
  std::vector<double> values_;
  SeriesOptions options_;
  double stddev_ = 0, change_stddev_ = 0;
};

/// Reads one column of a CSV file with a header, found by find_data. The rows must be in order of time. Throws
/// FileError.
SeriesData load_series(const std::string& path, const std::string& column, const SeriesOptions& options);

inline namespace XTAPE_DTYPE {

/// Windows as input of a network. They do not contain the level of the series, which changes after the training part.
struct SeriesBatch {
  Array inputs;   ///< [B, T, 2]: (value - mean of the window) / stddev(), and the seasonal change
                  ///< (x[t] - x[t-season]) / change_stddev(), 0 in the first season
  Array changes;  ///< [B, H]: (target - seasonal-naive forecast) / change_stddev()
};

inline SeriesBatch series_batch(const SeriesData& data, const std::vector<index_t>& windows) {
  const SeriesOptions& o = data.options();
  SeriesBatch out{empty_array({std::ssize(windows), o.context, 2}), empty_array({std::ssize(windows), o.horizon})};
  real *input = out.inputs.data(), *change = out.changes.data();
  for (const index_t window : windows) {
    double mean = 0;
    for (index_t t = 0; t < o.context; ++t) mean += data.value(window + t) / static_cast<double>(o.context);
    for (index_t t = 0; t < o.context; ++t) {
      const double x = data.value(window + t), before = t < o.season ? x : data.value(window + t - o.season);
      *input++ = static_cast<real>((x - mean) / data.stddev());
      *input++ = static_cast<real>((x - before) / data.change_stddev());
    }
    for (index_t t = 0; t < o.horizon; ++t)
      *change++ = static_cast<real>((data.truth(window, t) - data.seasonal_naive(window, t)) / data.change_stddev());
  }
  return out;
}

}  // namespace XTAPE_DTYPE
}  // namespace xtape
