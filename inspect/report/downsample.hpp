// The steps of a run in at most 240 buckets: each keeps the least, the middle and the greatest value of all its steps.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <string>
#include <vector>

namespace xtape {

constexpr std::size_t kMostBuckets = 240;
constexpr std::size_t kMostRows = 128;  ///< layers or lags; more are put together

/// Equal parts of the axis of steps, as wide as one logging interval or a multiple of it.
class Buckets {
 public:
  explicit Buckets(const std::vector<StepRecord>& steps);
  /// The buckets that hold the steps of several runs.
  explicit Buckets(const std::vector<const std::vector<StepRecord>*>& runs);

  std::size_t count() const { return count_; }
  index_t interval() const { return interval_; }  ///< the most frequent distance of logged steps
  index_t width() const { return width_; }        ///< in steps
  /// Steps before the first bucket count to it, those beyond the last to that.
  std::size_t of(index_t step) const;
  /// The step in the middle of the logged ones of bucket 0; that of bucket b is b widths further.
  double center() const;

  // The logged steps of each bucket.
  const std::vector<index_t>& first() const { return first_seen_; }
  const std::vector<index_t>& last() const { return last_seen_; }
  const std::vector<index_t>& logged() const { return logged_; }

 private:
  index_t first_ = 0, interval_ = 1, width_ = 1;
  std::size_t count_ = 0;
  std::vector<index_t> first_seen_, last_seen_, logged_;
};

/// Values of rows (layers, lags, or one number of the run) by bucket, row-major [rows, buckets]. NaN where a bucket has
/// none, infinity where it has only such that are not finite; these are counted in `broken` and otherwise left out.
struct Envelope {
  std::size_t rows = 0, buckets = 0;
  std::vector<double> low = {}, middle = {}, high = {};
  std::vector<index_t> broken = {};

  bool any() const;  ///< a value, or a number that is not finite
  double at(std::size_t row, std::size_t bucket) const { return middle[row * buckets + bucket]; }
};

/// Collects values and makes the bands of them.
class BandMaker {
 public:
  /// `rows` may be any number; beyond kMostRows, neighbours share one.
  BandMaker(const Buckets& buckets, std::size_t rows);

  void add(std::size_t row, index_t step, double value) { add(row, step, value, value, value); }
  /// A value that stands for several steps, whose extremes are known; NaN for those that are not.
  void add(std::size_t row, index_t step, double value, double low, double high);

  Envelope bands() const;
  std::size_t rows() const { return kept_; }
  /// The first of the rows that became row r.
  std::size_t first_of(std::size_t r) const { return (r * rows_ + kept_ - 1) / kept_; }
  std::size_t last_of(std::size_t r) const { return first_of(r + 1) - 1; }

 private:
  struct Cell {
    std::vector<double> values = {};
    double low = 0, high = 0;
    index_t broken = 0;
  };

  const Buckets& buckets_;
  std::size_t rows_, kept_;
  std::vector<Cell> cells_;
};

/// The same as in the file: 32-bit floats where rows are few, else 16 bits a value on a logarithmic scale. Base64,
/// little-endian; inspect/report/page/decode.js reads it. The text is one JSON object.
std::string bands_json(const Envelope& bands);

std::string base64(std::string_view bytes);

}  // namespace xtape
