// Causes in the loss, the inputs and the data.
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/causes.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

/// Whether this layer is the first, and its inputs are ids.
bool takes_ids(const RunFacts& facts, const std::string& layer) {
  for (const StepRecord& s : facts.run.steps)
    if (s.input && !s.layers.empty())
      return !s.input->mean && s.input->nonfinite == 0 && s.layers.front().name == layer;
  return false;
}

}  // namespace

void find_impossible_loss(const RunFacts& facts, Causes& out) {
  if (!facts.chance) return;
  const auto at = std::find_if(facts.run.steps.begin(), facts.run.steps.end(),
                               [](const StepRecord& s) { return std::isfinite(s.loss) && s.loss < 0; });
  if (at == facts.run.steps.end()) return;
  out.push_back({"impossible_loss", Finding::bad, "The loss is negative, which a cross-entropy cannot be.",
                 "loss " + format_3g(at->loss) + " at step " + std::to_string(at->step) + ", lowest " +
                     format_3g(*std::min_element(facts.losses.begin(), facts.losses.end())),
                 "Is its sign turned, or a number that is no probability logarithm added to it?", at->step});
}

/// A loss that is 0, or does not depend on the parameters.
void find_constant_loss(const RunFacts& facts, Causes& out) {
  const auto& steps = facts.run.steps;
  if (facts.losses.size() < limits::kFewSteps) return;
  const bool ignored = std::all_of(steps.begin(), steps.end(), [](const StepRecord& s) { return s.targets == 0; });
  const bool zero = std::all_of(facts.losses.begin(), facts.losses.end(), [](double x) { return x == 0; });
  const bool constant =
      std::all_of(facts.losses.begin(), facts.losses.end(), [&](double x) { return x == facts.losses.front(); }) &&
      std::all_of(steps.begin(), steps.end(), [](const StepRecord& s) { return s.grad_norm == 0; });
  if (!ignored && !zero && !constant) return;
  out.push_back({"constant_loss", Finding::bad,
                 zero ? "The loss is 0 from the start: there is nothing to learn." : "The loss never changes.",
                 ignored ? "no target counts: all are to be ignored"
                         : "loss " + format_3g(facts.losses.front()) + " in all " + std::to_string(steps.size()) +
                               " logged steps",
                 ignored ? "Look at the targets: all have the index that is ignored."
                         : "Does the loss depend on the output of the model?",
                 0});
}

void find_broken_inputs(const RunFacts& facts, Causes& out) {
  const auto at = std::find_if(facts.run.steps.begin(), facts.run.steps.end(),
                               [](const StepRecord& s) { return s.input && s.input->nonfinite > 0; });
  if (at == facts.run.steps.end()) return;
  out.push_back({"nonfinite_input", Finding::bad, "The input holds NaN or infinity.",
                 std::to_string(at->input->nonfinite) + " values of the batch of step " + std::to_string(at->step),
                 "Clean the data, or leave such rows out.", at->step});
}

void find_wild_inputs(const RunFacts& facts, Causes& out) {
  const auto size = facts.median_of([](const StepRecord& s) -> std::optional<double> {
    if (!s.input || !s.input->mean) return std::nullopt;
    return std::hypot(*s.input->mean, *s.input->stddev);
  });
  const auto offset = facts.median_of([](const StepRecord& s) -> std::optional<double> {
    if (!s.input || !s.input->mean) return std::nullopt;
    return std::abs(*s.input->mean) / std::max(*s.input->stddev, 1e-300);
  });
  if (!size) return;
  const bool large = *size > limits::kLargeInput, small = *size < limits::kSmallInput && *size > 0,
             far = *offset > limits::kInputOffset && *size > 1;
  if (!large && !small && !far) return;
  const auto first = std::find_if(facts.run.steps.begin(), facts.run.steps.end(),
                                  [](const StepRecord& s) { return s.input && s.input->mean; });
  const InputStats& input = *first->input;
  out.push_back({"input_scale", Finding::bad, "The inputs are not normalized.",
                 "mean " + format_3g(*input.mean) + ", deviation " + format_3g(*input.stddev) + ", range " +
                     format_3g(*input.low) + " to " + format_3g(*input.high) + " (limits: root mean square " +
                     format_3g(limits::kSmallInput) + " to " + format_3g(limits::kLargeInput) + ", mean " +
                     format_3g(limits::kInputOffset) + " deviations)",
                 "Subtract the mean of the training data and divide by its deviation.", 0});
}

/// One batch again and again, which is a fault if the validation says so: a data set may be one batch.
void find_repeated_batch(const RunFacts& facts, Causes& out) {
  index_t most = 0;
  std::optional<double> validation;
  for (const StepRecord& s : facts.run.steps) {
    if (s.input) most = std::max(most, s.input->repeats);
    if (s.validation_loss) validation = s.validation_loss;
  }
  if (most < limits::kRepeats || !validation || !facts.end) return;
  if (!(*validation > limits::kGap * std::abs(*facts.end))) return;
  out.push_back({"repeated_batch", Finding::bad, "Every step trains on the same batch.",
                 std::to_string(most + 1) + " measured batches in a row are equal; validation " +
                     format_3g(*validation) + ", training " + format_3g(*facts.end),
                 "Draw the next batch in every step.", 0});
}

void find_untouched_rows(const RunFacts& facts, Causes& out) {
  if (facts.run.steps.empty() || facts.steps < limits::kTouchSteps) return;
  for (const ParameterStats& p : facts.run.steps.back().parameters) {
    const ParameterInfo* info = named(facts.run.layout, p.name);
    if (!p.untouched_rows || *p.untouched_rows < limits::kUntouched || *p.untouched_rows == 1 || !info) continue;
    if (info->shape.front() < limits::kFewRows || !takes_ids(facts, layer_of(p.name))) continue;
    const auto rows = static_cast<double>(info->shape.front());
    out.push_back({"untouched_rows", Finding::warning,
                   format_3g(100 * *p.untouched_rows) + " % of the rows of " + p.name + " were never used.",
                   format_3g(std::round(*p.untouched_rows * rows)) + " of " + format_3g(rows) +
                       " rows got no gradient in any of " + std::to_string(facts.steps) + " steps (limit " +
                       format_3g(100 * limits::kUntouched) + " %)",
                   "Use a smaller vocabulary, or look at the ids.", 0, layer_of(p.name)});
    return;
  }
}

}  // namespace xtape
