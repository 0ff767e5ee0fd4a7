#include <xtape/core/number_text.hpp>
#include <xtape/inspect/run/statistics.hpp>
#include <xtape/inspect/verdicts/limits.hpp>
#include <xtape/inspect/verdicts/spikes.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

void push(std::deque<double>& values, double value) {
  if (!std::isfinite(value)) return;
  values.push_back(value);
  if (values.size() > limits::kSpikeWindow) values.pop_front();
}

std::string at(index_t step, const std::string& what) { return "step " + std::to_string(step) + ": " + what; }

}  // namespace

std::optional<BadStep> SpikeDetector::judge(index_t step, double loss, double norm) const {
  using Kind = BadStep::Kind;
  if (!std::isfinite(loss)) return BadStep{Kind::nonfinite, at(step, "the loss is " + number_text(loss)), loss};
  if (!std::isfinite(norm))
    return BadStep{Kind::nonfinite, at(step, "the gradient norm is " + number_text(norm)), norm};
  if (history_.norms.size() >= limits::kSpikeMinimum) {
    const double usual = median({history_.norms.begin(), history_.norms.end()});
    if (usual > 0 && norm > limits::kSpikeFactor * usual)
      return BadStep{
          Kind::spike,
          at(step, "the gradient norm " + number_text(norm, "%.4g") + " is " + number_text(norm / usual, "%.3g") +
                       " times the median of the steps before, " + number_text(usual, "%.4g")),
          norm};
  }
  if (history_.losses.size() < limits::kSpikeMinimum) return std::nullopt;
  // Only the latest losses: a falling loss makes a long window wide.
  const std::deque<double> latest(history_.losses.end() - static_cast<std::ptrdiff_t>(limits::kSpikeMinimum),
                                  history_.losses.end());
  const std::optional<double> stddevs = z(latest, loss);
  if (stddevs && *stddevs > limits::kLossSpikeStddevs) {
    const double usual = median({latest.begin(), latest.end()});
    if (loss - usual > limits::kLossSpikeShare * std::abs(usual))
      return BadStep{
          Kind::spike,
          at(step, "the loss " + number_text(loss, "%.4g") + " is " + number_text(*stddevs, "%.3g") +
                       " standard deviations above the steps before, whose median is " + number_text(usual, "%.4g")),
          loss};
  }
  return std::nullopt;
}

std::optional<double> SpikeDetector::grad_norm_z(double norm) const {
  if (!(norm > 0) || std::isinf(norm)) return std::nullopt;
  return z(history_.log_norms, std::log(norm));
}

std::optional<double> SpikeDetector::z(const std::deque<double>& before, double value) {
  if (before.size() < limits::kSpikeMinimum || !std::isfinite(value)) return std::nullopt;
  const auto n = static_cast<double>(before.size());
  double mean = 0;
  long double squares = 0;  // those of doubles may overflow
  for (double x : before) mean += x / n;
  for (double x : before) squares += static_cast<long double>(x - mean) * static_cast<long double>(x - mean);
  // The mean of equal values may differ from them by rounding, and squares of tiny differences may be 0.
  const bool equal = std::all_of(before.begin(), before.end(), [&](double x) { return x == before.front(); });
  if (equal || squares == 0) return std::nullopt;
  return (value - mean) / static_cast<double>(std::sqrt(squares / (before.size() - 1)));
}

void SpikeDetector::add(double loss, double norm) {
  push(history_.losses, loss);
  push(history_.norms, norm);
  if (norm > 0) push(history_.log_norms, std::log(norm));
}

}  // namespace xtape
