// A series of numbers at equal intervals, as training data for a forecast.
#pragma once

#include <xtape/core/array.hpp>

#include <string>
#include <vector>

namespace xtape {

struct SeriesOptions {
  index_t context = 72;    ///< values that the forecast sees, T
  index_t horizon = 24;    ///< values that it tells, H
  index_t season = 24;     ///< after so many values the series is much the same again: 24 hours; at most T
  std::uint64_t seed = 0;  ///< of the training windows
};

/// A series cut in time: the first 70 % for training, the next 15 % for validation, the rest for the test. Windows do
/// not cross a border, so nothing that is measured on was ever trained on.
class SeriesData {
 public:
  /// Throws ValueError if a value is not finite, the training part is the same in every season, a part is shorter than
  /// a window of T + H values, or a size is below 1.
  SeriesData(std::vector<double> values, const SeriesOptions& options);

  enum class Part { train, validation, test };

  const SeriesOptions& options() const { return options_; }
  double stddev() const { return stddev_; }                ///< of the training values
  double change_stddev() const { return change_stddev_; }  ///< root mean square of x[t] - x[t-season] there
  double value(index_t place) const { return values_.at(static_cast<std::size_t>(place)); }

  /// Places where windows begin: `batch` random ones of the training part. They depend on (seed, step) only.
  std::vector<index_t> train_windows(index_t step, index_t batch) const;
  /// Every window of a part, `step` values from one to the next.
  std::vector<index_t> windows(Part part, index_t step = 1) const;

  /// Value `t`, 0..H-1, after the context of a window.
  double truth(index_t window, index_t t) const { return value(window + options_.context + t); }
  /// What the seasonal-naive forecast says of it: the last value known at
  /// the same time of the season.
  double seasonal_naive(index_t window, index_t t) const;

 private:
  std::vector<double> values_;
  SeriesOptions options_;
  double stddev_ = 0, change_stddev_ = 0;
};

/// Reads one column of a CSV file with a header, looked for by find_data; its rows follow each other in time. Throws
/// FileError.
SeriesData load_series(const std::string& path, const std::string& column, const SeriesOptions& options);

inline namespace XTAPE_DTYPE {

/// Windows as a network sees them. Nothing in them tells the level of the series, which goes on to change after the
/// training part.
struct SeriesBatch {
  Array inputs;   ///< [B, T, 2]: the values less the window's mean, divided by the deviation; the seasonal changes
                  ///< x[t] - x[t-season] divided by theirs, 0 in the first season
  Array changes;  ///< [B, H]: what is to be told less the seasonal-naive forecast, divided by the deviation of changes
};

inline SeriesBatch series_batch(const SeriesData& data, const std::vector<index_t>& windows) {
  const SeriesOptions& o = data.options();
  SeriesBatch out{Array(Shape{windows.size(), static_cast<std::size_t>(o.context), 2}),
                  Array(Shape{windows.size(), static_cast<std::size_t>(o.horizon)})};
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
