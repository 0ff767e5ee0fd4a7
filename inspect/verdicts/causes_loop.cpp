// Causes in the training script: steps that are not made, parameters that no one moves, gradients cut or never cleared.
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/causes.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

/// "a, b and 3 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 2;
  std::string out;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) out += (i ? ", " : "") + names[i];
  return names.size() > kShown ? out + " and " + std::to_string(names.size() - kShown) + " more" : out;
}

/// In how many logged steps a parameter had a gradient, and was in no group of the optimizer.
struct Moves {
  std::size_t lines = 0, with_gradient = 0, unoptimized = 0;
};

Moves moves_of(const RunFacts& facts, const std::string& name) {
  Moves out;
  for (const StepRecord& s : facts.run.steps) {
    const ParameterStats* p = named(s.parameters, name);
    if (!p || !std::isfinite(s.grad_norm)) continue;
    ++out.lines;
    out.with_gradient += p->grad_norm > 0;
    out.unoptimized += p->unoptimized;
  }
  return out;
}

}  // namespace

/// The rate is 0 in all lines, or from some line on to the end. A schedule may end at 0: one such line is none.
void find_zero_rate(const RunFacts& facts, Causes& out) {
  const auto& steps = facts.run.steps;
  if (facts.run.only_norms || steps.size() < 2) return;
  std::size_t first = steps.size();
  while (first > 0 && steps[first - 1].lr == 0) --first;
  const std::size_t zeros = steps.size() - first;
  if (zeros < 2 || static_cast<double>(zeros) < limits::kRateZeroShare * static_cast<double>(steps.size())) return;
  if (std::all_of(steps.begin(), steps.end(), [](const StepRecord& s) { return s.interval.still < s.interval.steps; }))
    return;  // parameters move, so the script does not tell its rate
  const index_t since = steps[first].step;
  out.push_back(
      {"rate_zero", Finding::bad,
       first == 0 ? "The learning rate is 0." : "The learning rate is 0 from step " + std::to_string(since) + " on.",
       "lr is 0 in " + std::to_string(zeros) + " of " + std::to_string(steps.size()) + " logged steps",
       "Look at the schedule: its number of steps, its warm-up.", since});
}

/// No parameter moves although gradients are there.
void find_no_update(const RunFacts& facts, Causes& out) {
  index_t still = 0, skipped = 0;
  bool rate = false, gradient = false, in_optimizer = false;
  for (const StepRecord& s : facts.run.steps) {
    still += s.interval.still;
    skipped += s.interval.skipped;
    rate = rate || s.lr > 0;
    gradient = gradient || s.grad_norm > 0;
    for (const ParameterStats& p : s.parameters) in_optimizer = in_optimizer || !p.unoptimized;
  }
  if (facts.steps == 0 || still < facts.steps || !gradient || !rate || !in_optimizer || skipped == facts.steps) return;
  out.push_back(
      {"no_update", Finding::bad, "No step was made: no parameter has ever moved.",
       "gradients are there and the rate is not 0, but all updates of " + std::to_string(facts.steps) + " steps are 0",
       "Call optimizer.step() in every step, after backward and before zero_grad().", 0});
}

/// Trainable parameters that have a gradient but no update, because no group of the optimizer has them.
void find_unoptimized(const RunFacts& facts, Causes& out) {
  std::vector<std::string> names;
  for (const std::string& name : names_in(facts.run, &StepRecord::parameters)) {
    const Moves moves = moves_of(facts, name);
    if (facts.trainable(name) && moves.with_gradient > 0 && moves.unoptimized == moves.lines) names.push_back(name);
  }
  if (names.empty()) return;
  out.push_back({"not_in_optimizer", Finding::bad, listed(names) + " is in no group of the optimizer.",
                 "it has a gradient, but no update in any logged step", "Pass it to the optimizer, or freeze it.", 0,
                 layer_of(names.front())});
}

void find_no_backward(const RunFacts& facts, Causes& out) {
  const auto& steps = facts.run.steps;
  if (steps.empty() || std::any_of(steps.begin(), steps.end(), [](const StepRecord& s) { return s.grad_norm != 0; }))
    return;
  out.push_back({"no_gradient", Finding::bad, "No gradient reaches any parameter.",
                 "the gradient is exactly 0 in every logged step",
                 "Call backward on the loss, with the tape still alive.", 0});
}

/// Trainable parameters that never get a gradient, while others do.
void find_no_gradient(const RunFacts& facts, Causes& out) {
  std::vector<std::string> cut;
  for (const std::string& name : names_in(facts.run, &StepRecord::parameters)) {
    const Moves moves = moves_of(facts, name);
    if (facts.trainable(name) && moves.lines > 0 && moves.with_gradient == 0) cut.push_back(name);
  }
  if (cut.empty() ||
      std::none_of(facts.run.steps.begin(), facts.run.steps.end(), [](const StepRecord& s) { return s.grad_norm > 0; }))
    return;
  out.push_back({"no_gradient", Finding::bad, "No gradient reaches " + listed(cut) + ".",
                 "the gradient is exactly 0 in every logged step, while others have one",
                 "Is it used by the loss? Is there a detach between it and the loss?", 0, layer_of(cut.front())});
}

void find_evaluation_mode(const RunFacts& facts, Causes& out) {
  std::size_t measured = 0, evaluation = 0;
  for (const StepRecord& s : facts.run.steps) {
    measured += !s.layers.empty();
    evaluation += s.evaluation;
  }
  if (evaluation == 0) return;
  const auto first =
      std::find_if(facts.run.steps.begin(), facts.run.steps.end(), [](const StepRecord& s) { return s.evaluation; });
  out.push_back({"evaluation_mode", Finding::bad,
                 "The model trains in evaluation mode" +
                     (first->step == 0 ? "." : " from step " + std::to_string(first->step) + " on."),
                 "batch norm or dropout ran in evaluation mode in " + std::to_string(evaluation) + " of " +
                     std::to_string(measured) + " measured steps",
                 "Call store.train() after each validation.", first->step});
}

void find_skipped_steps(const RunFacts& facts, Causes& out) {
  index_t skipped = 0, since = -1;
  for (const StepRecord& s : facts.run.steps) {
    skipped += s.interval.skipped;
    if (since < 0 && s.interval.skipped > 0) since = std::max<index_t>(0, s.step - s.interval.steps + 1);
  }
  const double share = facts.steps > 0 ? static_cast<double>(skipped) / static_cast<double>(facts.steps) : 0;
  if (share < limits::kManySkipped) return;
  out.push_back({"steps_skipped", Finding::bad, "Many steps made no update.",
                 format_3g(100 * share) + " % of " + std::to_string(facts.steps) + " steps were skipped (limit " +
                     format_3g(100 * limits::kManySkipped) +
                     " %): their loss or gradient was not finite, or the log refused them",
                 "Find what makes these batches bad: run again with --detect-anomaly.", since});
}

/// Gradients that are never cleared add up: successive ones are almost parallel, and the norm grows with the step.
void find_kept_gradients(const RunFacts& facts, Causes& out) {
  const auto cosine = facts.median_of([](const StepRecord& s) -> std::optional<double> {
    return s.interval.cosines > 0 ? std::optional(s.interval.grad_cosine) : std::nullopt;
  });
  if (!cosine || *cosine < limits::kParallel || facts.run.steps.size() < limits::kFewSteps) return;
  const double first = facts.run.steps.front().grad_norm;
  double highest = 0;
  index_t at = 0;
  for (const StepRecord& s : facts.run.steps)
    if (std::isfinite(s.grad_norm) && s.grad_norm > highest) {
      highest = s.grad_norm;
      at = s.step;
    }
  if (!(first > 0) || highest < limits::kSummedGrowth * first || at == 0) return;
  out.push_back({"gradients_not_cleared", Finding::bad, "The gradients are never cleared: each step adds to them.",
                 "successive gradients are almost parallel (median cosine " + format_3g(*cosine) + ", limit " +
                     format_3g(limits::kParallel) + ") and the norm grows from " + format_3g(first) + " to " +
                     format_3g(highest) + " at step " + std::to_string(at),
                 "Call store.zero_grad() after each step.", 0});
}

}  // namespace xtape
