#include <xtape/core/error.hpp>
#include <xtape/core/random.hpp>
#include <xtape/data/csv.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/series.hpp>

#include <cmath>

namespace xtape {

namespace {

struct Span {
  index_t begin, end;
};

Span span_of(SeriesData::Part part, index_t size) {
  const index_t validation = size * 70 / 100, test = size * 85 / 100;
  if (part == SeriesData::Part::train) return {0, validation};
  return part == SeriesData::Part::validation ? Span{validation, test} : Span{test, size};
}

}  // namespace

SeriesData::SeriesData(std::vector<double> values, const SeriesOptions& options)
    : values_(std::move(values)), options_(options) {
  const SeriesOptions& o = options_;
  if (o.context < 1 || o.horizon < 1 || o.season < 1)
    throw ValueError("series", "context, horizon and season of at least 1", o.context, o.horizon, o.season);
  if (o.season > o.context)
    throw ValueError("series", "a season within the context of " + std::to_string(o.context), o.season);
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (!std::isfinite(values_[i])) throw ValueError("series", "a finite value " + std::to_string(i), values_[i]);
  const auto size = std::ssize(values_);
  for (const Part part : {Part::train, Part::validation, Part::test}) {
    const Span span = span_of(part, size);
    if (span.end - span.begin < o.context + o.horizon)
      throw ValueError("series",
                       "at least " + std::to_string(o.context + o.horizon) + " values in each part for a context of " +
                           std::to_string(o.context) + " and a horizon of " + std::to_string(o.horizon),
                       span.end - span.begin);
  }
  const index_t trained = span_of(Part::train, size).end;
  double mean = 0;
  for (index_t i = 0; i < trained; ++i) mean += value(i) / static_cast<double>(trained);
  for (index_t i = 0; i < trained; ++i) {
    stddev_ += (value(i) - mean) * (value(i) - mean);
    if (i >= o.season) change_stddev_ += (value(i) - value(i - o.season)) * (value(i) - value(i - o.season));
  }
  stddev_ = std::sqrt(stddev_ / static_cast<double>(trained));
  change_stddev_ = std::sqrt(change_stddev_ / static_cast<double>(trained - o.season));
  if (!(change_stddev_ > 0)) throw ValueError("series", "the values for training are the same in every season");
}

std::vector<index_t> SeriesData::train_windows(index_t step, index_t batch) const {
  if (step < 0 || batch < 1) throw ValueError("series", "a step of at least 0 and a batch of at least 1", step, batch);
  const Span span = span_of(Part::train, std::ssize(values_));
  Random random(options_.seed, substream(stream_id("series_windows"), static_cast<std::uint64_t>(step)));
  std::vector<index_t> out;
  for (index_t b = 0; b < batch; ++b) out.push_back(random.below(span.end - options_.context - options_.horizon + 1));
  return out;
}

std::vector<index_t> SeriesData::windows(Part part, index_t step) const {
  if (step < 1) throw ValueError("series", "windows at least 1 value apart", step);
  const Span span = span_of(part, std::ssize(values_));
  std::vector<index_t> out;
  for (index_t begin = span.begin; begin + options_.context + options_.horizon <= span.end; begin += step)
    out.push_back(begin);
  return out;
}

double SeriesData::seasonal_naive(index_t window, index_t t) const {
  return value(window + options_.context - options_.season + t % options_.season);
}

SeriesData load_series(const std::string& path, const std::string& column, const SeriesOptions& options) {
  return {load_csv(find_data(path)).numbers(column), options};
}

}  // namespace xtape
