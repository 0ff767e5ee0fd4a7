// Causes in the course of the run: it was good and is no longer, or single steps stand out.
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/causes.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

/// A loss that was far down and is up again at the end.
void find_late_divergence(const RunFacts& facts, Causes& out) {
  if (!facts.regained) return;
  out.push_back({"late_divergence", Finding::bad,
                 "The run diverged after step " + std::to_string(facts.best_step) + ".",
                 "loss " + format_3g(*facts.start) + " at the start, best " + format_3g(*facts.best) + " at step " +
                     std::to_string(facts.best_step) + ", " + format_3g(*facts.end) + " at the end (limits " +
                     format_3g(limits::kDivergedLoss) + " times the best, and " + format_3g(100 * limits::kRegained) +
                     " % of the fall)",
                 "Lower the learning rate from there on, or clip; go on from an earlier checkpoint.", facts.best_step});
}

/// A step whose gradient is far above those before and after it, or whose loss is worse than knowing nothing.
void find_spikes(const RunFacts& facts, Causes& out) {
  constexpr std::size_t kAround = 10;  // lines on each side
  const auto& steps = facts.run.steps;
  if (steps.size() < limits::kFewSteps || !facts.learns()) return;
  const auto usual = [&](std::size_t from, std::size_t to) {
    std::vector<double> norms, losses;
    for (std::size_t i = from; i < std::min(to, steps.size()); ++i) {
      norms.push_back(steps[i].grad_norm);
      losses.push_back(steps[i].loss);
    }
    return std::pair(finite_median(norms).value_or(INFINITY), finite_median(losses).value_or(INFINITY));
  };
  for (std::size_t i = 2; i + 1 < steps.size(); ++i) {
    const auto before = usual(i > kAround ? i - kAround : 0, i), after = usual(i + 1, i + 1 + kAround);
    const double norm = std::max(before.first, after.first), loss = std::max(before.second, after.second);
    const IntervalStats& interval = steps[i].interval;
    const bool large =
        interval.grad_norm_max > std::max(limits::kSpikeSize * norm, limits::kSpikeOfStart * steps.front().grad_norm);
    const bool wrong =
        facts.size() > 0 && loss < 0.5 * facts.size() && interval.loss_max > limits::kSpikeLoss * facts.size();
    if (!large && !wrong) continue;
    index_t step = steps[i].step;
    for (const EventRecord& e : facts.run.events)  // the exact step, if the log saw it
      if (e.kind == "spike" && e.step <= step && e.step > steps[i].step - interval.steps &&
          (e.value == interval.grad_norm_max || e.value == interval.loss_max))
        step = e.step;
    out.push_back({"spike", Finding::warning, "Step " + std::to_string(step) + " stands out.",
                   large ? "gradient norm " + format_3g(interval.grad_norm_max) + ", " +
                               format_3g(interval.grad_norm_max / norm) + " times the median around it (limit " +
                               format_3g(limits::kSpikeSize) + ")"
                         : "loss " + format_3g(interval.loss_max) + ", above " + format_3g(facts.size()) +
                               " for knowing nothing, between losses around " + format_3g(loss),
                   "Look at the batch of that step; clip the norm.", step});
    return;
  }
}

}  // namespace xtape
