// Causes in the initial weights: judged at the first measured step.
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/causes.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

const StepRecord* first_measured(const RunFacts& facts) {
  for (const StepRecord& s : facts.run.steps)
    if (s.step == 0 && !s.layers.empty()) return &s;
  return nullptr;
}

/// The largest deviation of a layer's output, and its layer.

const LayerStats* widest_layer(const StepRecord& s) {
  const auto at = std::max_element(s.layers.begin(), s.layers.end(), [](const LayerStats& a, const LayerStats& b) {
    return a.largest.value_or(0) < b.largest.value_or(0);
  });
  return at == s.layers.end() ? nullptr : &*at;
}

}  // namespace

void find_zero_weights(const RunFacts& facts, Causes& out) {
  const StepRecord* first_step = first_measured(facts);
  if (!first_step) return;
  const StepRecord& s = *first_step;
  const std::vector<std::string> weights = facts.weights();
  std::vector<std::string> zero;
  for (const std::string& name : weights)
    if (const ParameterStats* p = named(s.parameters, name); p && p->weight_norm == 0) zero.push_back(name);
  // A single output layer of zeros is a usual start: its own gradient is not 0.
  if (zero.empty() || (zero.size() == 1 && zero.front() == weights.back() && weights.size() > 1)) return;
  out.push_back({"zero_weights", Finding::bad, "The weights of " + zero.front() + " are all 0.",
                 std::to_string(zero.size()) + " of " + std::to_string(weights.size()) +
                     " weight matrices have norm 0 after step 0",
                 "Start weights at random; only biases and the last layer may start at 0.", 0, layer_of(zero.front())});
}

void find_equal_units(const RunFacts& facts, Causes& out) {
  if (facts.first_nonfinite == 0) return;
  const StepRecord* first_step = first_measured(facts);
  if (!first_step) return;
  const StepRecord& s = *first_step;
  for (const std::string& name : facts.weights()) {
    const ParameterStats* p = named(s.parameters, name);
    if (!p || p->weight_norm == 0 || !std::isfinite(p->weight_norm) || p->equal_rows.value_or(0) < limits::kEqualRows)
      continue;
    out.push_back({"equal_units", Finding::bad, "The units of " + layer_of(name) + " are equal.",
                   format_3g(100 * *p->equal_rows) + " % of the rows of " + name +
                       " equal the row before: equal units get equal gradients and stay equal",
                   "Start weights at random.", 0, layer_of(name)});
    return;
  }
}

void find_large_weights(const RunFacts& facts, Causes& out) {
  const StepRecord* first_step = first_measured(facts);
  if (!first_step) return;
  const StepRecord& s = *first_step;
  const LayerStats* layer = widest_layer(s);
  const bool large = layer && layer->largest.value_or(0) > limits::kLargeOutput;
  const bool blind = facts.chance && facts.start && *facts.start > limits::kUntrainedAbove * *facts.chance;
  if (!large || (facts.chance && !blind)) return;
  out.push_back({"weights_too_large", Finding::bad, "The initial weights are too large.",
                 "at step 0 the outputs of " + layer->name + " reach " + format_3g(*layer->largest) + " (limit " +
                     format_3g(limits::kLargeOutput) + ")" +
                     (blind ? ", and the loss is " + format_3g(*facts.start) + ", above " + format_3g(*facts.chance) +
                                  " for knowing nothing"
                            : ""),
                 "Start with smaller weights: deviation 1 / sqrt(inputs).", 0, layer->name});
}

/// Signals that shrink from layer to layer: the outputs of the last hidden layer hardly vary.
void find_small_weights(const RunFacts& facts, Causes& out) {
  const StepRecord* first_step = first_measured(facts);
  if (!first_step) return;
  const StepRecord& s = *first_step;
  const Depth depth = depth_at(facts.run, s);
  if (!depth.share || *depth.share > limits::kVanishingStart) return;
  const LayerStats *first = named(s.layers, depth.first), *last = named(s.layers, depth.last);
  if (!first || !last || !(last->stddev < limits::kShrunk * first->stddev)) return;
  out.push_back(
      {"weights_too_small", Finding::bad, "The initial weights are too small: signals fade from layer to layer.",
       "at step 0 the deviation falls from " + format_3g(first->stddev) + " in " + first->name + " to " +
           format_3g(last->stddev) + " in " + last->name + ", and " + first->name + " receives " +
           format_3g(*depth.share) + " times the gradient",
       "Start with larger weights: deviation 1 / sqrt(inputs), sqrt(2 / inputs) before a relu.", 0, first->name});
}

void find_sharp_attention(const RunFacts& facts, Causes& out) {
  const StepRecord* first_step = first_measured(facts);
  if (!first_step) return;
  const StepRecord& s = *first_step;
  for (const AttentionStats& a : s.attention) {
    if (a.entropy_share.empty() || a.largest_logit.empty()) continue;
    const double share = finite_median(a.entropy_share).value_or(1);
    const double logit = *std::max_element(a.largest_logit.begin(), a.largest_logit.end());
    if (!(share < limits::kSharpStart)) continue;
    out.push_back({"attention_saturated", facts.severity(),
                   "The attention of " + a.name + " is saturated from the start.",
                   "at step 0 its entropy is " + format_3g(100 * share) + " % of the largest possible (limit " +
                       format_3g(100 * limits::kSharpStart) + " %), logits up to " + format_3g(logit),
                   "Scale the logits by 1 / sqrt(d), or start with smaller query and key weights.", 0, a.name});
    return;
  }
}

}  // namespace xtape
