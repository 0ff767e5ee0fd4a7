// Causes in the size of the steps: rate, momentum, decay, clipping, and layers that move at other rates.
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/causes.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace xtape {

namespace {

/// Median update ratio of the weights of a step.
std::optional<double> pace_of(const RunFacts& facts, const StepRecord& s) {
  if (!(s.lr > 0)) return std::nullopt;
  std::vector<double> ratios;
  for (const std::string& name : facts.weights())
    if (const ParameterStats* p = named(s.parameters, name); p && !p->unoptimized) ratios.push_back(p->update_ratio);
  return finite_median(ratios);
}

/// Median share of weight decay in the updates of the weights of a step.
std::optional<double> decay_share_of(const RunFacts& facts, const StepRecord& s) {
  std::vector<double> shares;
  const bool l2 = facts.optimizer == "sgd" || facts.optimizer == "adam" || facts.optimizer == "averaged_sgd";
  for (const std::string& name : facts.weights()) {
    const ParameterStats* p = named(s.parameters, name);
    if (!p || !p->decay_norm || !(s.lr > 0) || p->update_norm == 0) continue;
    // In the gradient (l2) or beside it (decoupled): decay over what it is added to.
    const double decay = l2 ? *p->decay_norm / (s.lr * p->lr_scale.value_or(1)) : *p->decay_norm;
    const double all = l2 ? std::hypot(decay, p->grad_norm * s.clip_factor) : std::max(p->update_norm, decay);
    if (all > 0) shares.push_back(decay / all);
  }

  return finite_median(shares);
}

/// Median over the weights of the norm at the end / at the start.
double weights_left(const RunFacts& facts) {
  std::vector<double> shares;
  for (const std::string& name : facts.weights()) {
    const ParameterStats *first = named(facts.run.steps.front().parameters, name),
                         *last = named(facts.run.steps.back().parameters, name);
    if (first && last && first->weight_norm > 0) shares.push_back(last->weight_norm / first->weight_norm);
  }
  return finite_median(shares).value_or(1);
}

struct Peak {
  double ratio = 0;
  index_t step = 0;
};

/// The largest median update ratio of the run, and the first step with half of it.
Peak highest_pace(const RunFacts& facts) {
  Peak out;
  for (const StepRecord& s : facts.run.steps)
    if (const auto pace = pace_of(facts, s); pace && *pace > 2 * out.ratio) out = {*pace, s.step};
  return out;
}

}  // namespace

void find_strong_decay(const RunFacts& facts, Causes& out) {
  const auto share = facts.median_of([&](const StepRecord& s) { return decay_share_of(facts, s); });
  if (!share || *share < limits::kDecayShare || (facts.learns() && !(weights_left(facts) < limits::kShrunkWeights)))
    return;
  out.push_back({"decay_too_large", Finding::bad, "Weight decay removes more than the gradient adds.",
                 format_3g(100 * *share) + " % of the median update is decay (limit " +
                     format_3g(100 * limits::kDecayShare) + " %), and the loss does not fall",
                 "Lower the weight decay.", 0});
}

void find_tight_clip(const RunFacts& facts, Causes& out) {
  if (facts.adaptive() || facts.steps == 0) return;  // an Adam divides the scale of the gradient out
  index_t clipped = 0;
  for (const StepRecord& s : facts.run.steps) clipped += s.interval.clipped;
  const auto factor = facts.median_of([](const StepRecord& s) { return std::optional(s.clip_factor); });
  const auto pace = facts.median_of([&](const StepRecord& s) { return pace_of(facts, s); });
  if (!factor || !pace || *factor > limits::kTightClip || *pace > limits::kSlowPace) return;
  if (static_cast<double>(clipped) < limits::kMost * static_cast<double>(facts.steps)) return;
  out.push_back({"clip_too_tight", Finding::bad, "The clipping limit makes the steps too small.",
                 "the median step keeps " + format_3g(*factor) + " of its gradient (limit " +
                     format_3g(limits::kTightClip) + "), and the weights move by " + format_3g(*pace) +
                     " of their size a step",
                 "Raise the clipping limit.", 0});
}

void find_momentum(const RunFacts& facts, Causes& out) {
  const double momentum = std::max(facts.option("momentum"), facts.option("beta1"));
  if (momentum < limits::kHeavyMomentum || !facts.start || !facts.end) return;
  if (facts.learns() && !facts.regained) return;
  out.push_back({"momentum_too_high", Finding::bad, "The momentum is so large that the run swings past its minimum.",
                 "momentum " + format_3g(momentum) + " averages over " + format_3g(1 / (1 - momentum)) + " steps, of " +
                     std::to_string(facts.steps) + " in all (limit " + format_3g(limits::kHeavyMomentum) + "); loss " +
                     format_3g(*facts.start) + " at the start, " + format_3g(*facts.end) + " at the end",
                 "Use a momentum of 0.9.", 0});
}

/// Steps so large that they destroy what was there.
void find_high_rate(const RunFacts& facts, Causes& out) {
  const Peak peak = highest_pace(facts);
  if (!facts.start || peak.ratio < limits::kLargeStep) return;
  // A loss above its start shows the damage, a step of a third of the weight is damage.
  const double usual = std::max(facts.size(), *facts.start);
  const bool disturbed = facts.highest > limits::kWorse * usual || peak.ratio > limits::kHugeStep;
  const bool blown = facts.blown_lines > 2;
  if ((facts.learns() && !facts.regained && !blown) || !disturbed) return;
  out.push_back({"rate_too_high", Finding::bad, "The learning rate is too high.",
                 "at step " + std::to_string(peak.step) + " the median weight moves by " + format_3g(peak.ratio) +
                     " of its size (limit " + format_3g(limits::kLargeStep) + "); loss " + format_3g(*facts.start) +
                     " at the start, at most " + format_3g(facts.highest) + ", " +
                     format_3g(facts.end.value_or(facts.losses.back())) + " at the end",
                 "Lower the learning rate, or warm it up.", peak.step});
}

void find_low_rate(const RunFacts& facts, Causes& out) {
  const auto pace = facts.median_of([&](const StepRecord& s) { return pace_of(facts, s); });
  const auto rate = facts.median_of([](const StepRecord& s) { return std::optional(s.lr); });
  if (!pace || *pace > limits::kSlowPace || !facts.start || !facts.end || facts.outcome == Outcome::broken) return;
  const double fall = (*facts.start - *facts.end) / std::abs(*facts.start);
  if (!(fall < limits::kSlowFall) && facts.outcome != Outcome::weak) return;
  const double peak =
      std::max_element(facts.run.steps.begin(), facts.run.steps.end(), [](const auto& a, const auto& b) {
        return a.lr < b.lr;
      })->lr;
  const bool falls = *rate < limits::kFallenRate * peak;
  out.push_back({"rate_too_low", Finding::warning,
                 falls ? "The schedule takes the learning rate away too early."
                       : "The learning rate is too low: the weights hardly move.",
                 "the median weight moves by " + format_3g(*pace) + " of its size a step (limit " +
                     format_3g(limits::kSlowPace) + "), and the loss falls by " + format_3g(100 * fall) + " %" +
                     (falls ? "; median rate " + format_3g(*rate) + ", largest " + format_3g(peak) : ""),
                 falls ? "Look at the schedule: its number of steps." : "Raise the learning rate.", 0});
}

/// A layer whose group has a rate far from that of most parameters.
void find_uneven_rates(const RunFacts& facts, Causes& out) {
  if (facts.run.steps.empty()) return;
  std::map<double, std::vector<std::string>> by_scale;
  for (const ParameterStats& p : facts.run.steps.front().parameters)
    if (facts.trainable(p.name) && !p.unoptimized) by_scale[p.lr_scale.value_or(1)].push_back(p.name);
  if (by_scale.size() < 2) return;
  const auto& [usual, most] = *std::max_element(
      by_scale.begin(), by_scale.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  for (const auto& [scale, names] : by_scale) {
    const double factor = scale / usual;
    if (factor < limits::kUneven && factor > 1 / limits::kUneven) continue;
    out.push_back({"uneven_rate", facts.severity(),
                   layer_of(names.front()) + " moves far " + (factor < 1 ? "slower" : "faster") + " than most layers.",
                   std::to_string(names.size()) + " parameters have " + format_3g(factor) +
                       " times the rate of the other " + std::to_string(most.size()) + " (limit " +
                       format_3g(limits::kUneven) + " times)",
                   "Give its group the rate of the others.", 0, layer_of(names.front())});
    return;
  }
}

}  // namespace xtape
