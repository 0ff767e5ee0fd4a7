// Downsampling of the steps of a run to at most 240 buckets. Each keeps the lowest, the median and the highest value.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <string>
#include <vector>

namespace xtape {

constexpr std::size_t kMostBuckets = 240;
constexpr std::size_t kMostRows = 128;  ///< layers or lags; more are merged

/// Equal intervals of the axis of steps. Their width is a multiple of the logging interval.
class Buckets {
 public:
  explicit Buckets(const std::vector<StepRecord>& steps);
  /// Buckets for the steps of several runs.
  explicit Buckets(const std::vector<const std::vector<StepRecord>*>& runs);

  std::size_t count() const { return count_; }
  index_t interval() const { return interval_; }  ///< the most frequent distance between logged steps
  index_t width() const { return width_; }        ///< in steps
  /// The bucket of a step. Steps outside the range belong to the first or last bucket.
  std::size_t of(index_t step) const;
  /// The middle of the logged steps of bucket 0. Add b * width() for bucket b.
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

/// Values of rows (layers, lags, or one number of the run) by bucket, row-major [rows, buckets]. NaN: the bucket has no
/// value; infinity: none of its values is finite. `broken` counts the values that are not finite; they are left out.
struct Envelope {
  std::size_t rows = 0, buckets = 0;
  std::vector<double> low = {}, middle = {}, high = {};
  std::vector<index_t> broken = {};

  bool any() const;  ///< whether there is any value, finite or not
  double at(std::size_t row, std::size_t bucket) const { return middle[row * buckets + bucket]; }
};

/// Collects values and builds an envelope.
class EnvelopeBuilder {
 public:
  /// `rows` may be any number. If there are more than kMostRows, neighbors are merged.
  EnvelopeBuilder(const Buckets& buckets, std::size_t rows);

  void add(std::size_t row, index_t step, double value) { add(row, step, value, value, value); }
  /// A value that stands for several steps with known extremes. A NaN extreme is unknown.
  void add(std::size_t row, index_t step, double value, double low, double high);

  Envelope bands() const;
  std::size_t rows() const { return kept_; }
  /// The first and the last of the rows that were merged into row r.
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

/// The envelope as one JSON object with base64 arrays, little-endian: 32-bit floats if there are few rows, else 16 bits
/// a value on a logarithmic scale. inspect/report/web/decode.js reads it.
std::string envelope_json(const Envelope& bands);

std::string base64(std::string_view bytes);

}  // namespace xtape
