#include <xtape/inspect/report/downsample.hpp>
#include <xtape/inspect/run/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace xtape {

namespace {

/// The most frequent distance between logged steps; the smallest if several are equally frequent. Steps logged for
/// another reason (the last step, a validation loss) thus have no influence.
index_t usual_distance(const std::vector<const std::vector<StepRecord>*>& runs) {
  std::map<index_t, std::size_t> counts;
  for (const std::vector<StepRecord>* run : runs)
    for (std::size_t i = 1; i < run->size(); ++i) ++counts[(*run)[i].step - (*run)[i - 1].step];
  index_t best = 1;
  std::size_t most = 0;
  for (const auto& [distance, count] : counts)
    if (count > most) best = distance, most = count;
  return best;
}

}  // namespace

Buckets::Buckets(const std::vector<StepRecord>& steps) : Buckets(std::vector<const std::vector<StepRecord>*>{&steps}) {}

Buckets::Buckets(const std::vector<const std::vector<StepRecord>*>& runs) {
  index_t last = -1;
  bool any = false;
  for (const std::vector<StepRecord>* run : runs) {
    if (run->empty()) continue;
    first_ = any ? std::min(first_, run->front().step) : run->front().step;
    last = std::max(last, run->back().step);
    any = true;
  }
  if (!any) return;
  interval_ = usual_distance(runs);
  const auto most = static_cast<index_t>(kMostBuckets);
  const index_t slots = (last - first_) / interval_ + 1;
  width_ = interval_ * ((slots + most - 1) / most);
  count_ = static_cast<std::size_t>((last - first_) / width_ + 1);
  first_seen_.assign(count_, -1);
  last_seen_.assign(count_, -1);
  logged_.assign(count_, 0);
  for (const std::vector<StepRecord>* run : runs)
    for (const StepRecord& step : *run) {
      const std::size_t b = of(step.step);
      first_seen_[b] = logged_[b] == 0 ? step.step : std::min(first_seen_[b], step.step);
      last_seen_[b] = std::max(last_seen_[b], step.step);
      ++logged_[b];
    }
}

std::size_t Buckets::of(index_t step) const {
  const index_t bucket = (step - first_) / width_;
  return static_cast<std::size_t>(std::clamp<index_t>(bucket, 0, static_cast<index_t>(count_) - 1));
}

double Buckets::center() const { return static_cast<double>(first_) + static_cast<double>(width_ - interval_) / 2; }

bool Envelope::any() const {
  return std::any_of(middle.begin(), middle.end(), [](double x) { return !std::isnan(x); });
}

EnvelopeBuilder::EnvelopeBuilder(const Buckets& buckets, std::size_t rows)
    : buckets_(buckets),
      rows_(rows),
      kept_(std::min(rows, kMostRows)),
      cells_(kept_ * buckets.count(), Cell{.low = INFINITY, .high = -INFINITY}) {}

void EnvelopeBuilder::add(std::size_t row, index_t step, double value, double low, double high) {
  Cell& cell = cells_[row * kept_ / rows_ * buckets_.count() + buckets_.of(step)];
  if (std::isfinite(value)) cell.values.push_back(value);
  else ++cell.broken;
  for (double x : {low, value, high})
    if (std::isfinite(x)) {
      cell.low = std::min(cell.low, x);
      cell.high = std::max(cell.high, x);
    }
}

Envelope EnvelopeBuilder::bands() const {
  Envelope out{.rows = kept_, .buckets = buckets_.count()};
  for (const Cell& cell : cells_) {
    const bool known = !cell.values.empty();
    const double none = cell.broken > 0 ? INFINITY : NAN;
    out.middle.push_back(known ? median(cell.values) : none);
    out.low.push_back(known ? cell.low : none);
    out.high.push_back(known ? cell.high : none);
    out.broken.push_back(cell.broken);
  }
  return out;
}

}  // namespace xtape
