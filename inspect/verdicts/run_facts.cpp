#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/limits.hpp>
#include <xtape/inspect/verdicts/run_facts.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

Outcome outcome_of(const RunFacts& facts) {
  if (facts.losses.size() < limits::kFewSteps || !facts.start) return Outcome::unknown;
  const double last = facts.losses.back();
  if (!std::isfinite(last) || !facts.end) return Outcome::broken;
  // A loss of classes that stays near chance has learned nothing, wherever it began.
  if (facts.chance && *facts.start > 0) {
    if (*facts.end > limits::kWorse * std::max(*facts.chance, *facts.start)) return Outcome::worse;
    if (*facts.end > limits::kAtChance * *facts.chance) return Outcome::stuck;
    return *facts.end > limits::kWeak * *facts.chance ? Outcome::weak : Outcome::learns;
  }
  const double size = std::max(std::abs(*facts.start), std::abs(*facts.end));
  if (*facts.end - *facts.start > (limits::kWorse - 1) * size) return Outcome::worse;
  if (*facts.start - *facts.end <= (1 - limits::kAtChance) * size) return Outcome::stuck;
  return *facts.start - *facts.end <= (1 - limits::kWeak) * size ? Outcome::weak : Outcome::learns;
}

void find_best(RunFacts& facts) {
  if (facts.losses.size() < limits::kCourseSteps || !facts.start || !facts.end || !(*facts.start > 0)) return;
  const std::size_t tenth = first_tenth(facts.losses).size();
  for (std::size_t i = 0; i + tenth <= facts.losses.size(); ++i)
    if (const auto middle = finite_median(std::span(facts.losses).subspan(i, tenth));
        middle && (!facts.best || *middle < *facts.best)) {
      facts.best = *middle;
      facts.best_step = facts.run.steps[i + tenth - 1].step;
    }
  const double fallen = *facts.start - *facts.best;
  facts.regained = fallen > limits::kFallen * *facts.start && *facts.end > limits::kDivergedLoss * *facts.best &&
                   *facts.end - *facts.best > limits::kRegained * fallen;
}

index_t first_nonfinite_step(const RunData& run) {
  index_t first = -1;
  const auto see = [&first](index_t step) { first = first < 0 ? step : std::min(first, step); };
  for (const EventRecord& event : run.events)
    if (event.kind == "nonfinite") see(event.step);
  for (const StepRecord& s : run.steps)
    if (!std::isfinite(s.grad_norm) || (!run.only_norms && !std::isfinite(s.loss))) see(s.step);
  return first;
}

}  // namespace

RunFacts::RunFacts(const RunData& data) : run(data) {
  if (!run.only_norms) losses = series(run, [](const StepRecord& s) { return s.loss; });
  const auto finite = [](double x) { return std::isfinite(x); };
  if (const auto at = std::find_if(losses.begin(), losses.end(), finite); at != losses.end()) start = highest = *at;
  if (!losses.empty()) end = finite_median(last_tenth(losses));
  for (const StepRecord& s : run.steps) {
    steps += s.interval.steps;
    for (const double loss : {s.loss, s.interval.loss_max})
      if (std::isfinite(loss) && !run.only_norms) highest = std::max(highest, loss);
    blown_lines += start && *start > 0 && s.interval.loss_max > limits::kBlownLoss * *start;
    if (s.classes && *s.classes > 1) chance = std::log(static_cast<double>(*s.classes));
    if (!s.optimizer) continue;
    optimizer = s.optimizer->name;
    options = {s.optimizer->options.begin(), s.optimizer->options.end()};
  }
  find_best(*this);
  outcome = outcome_of(*this);
  first_nonfinite = first_nonfinite_step(run);
}

double RunFacts::option(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? 0 : found->second;
}

bool RunFacts::adaptive() const { return optimizer.starts_with("adam"); }

std::optional<double> RunFacts::median_of(const std::function<std::optional<double>(const StepRecord&)>& number,
                                          double from, double to) const {
  std::vector<double> values;
  const auto count = static_cast<double>(run.steps.size());
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const double place = static_cast<double>(i) / count;
    if (place < from || place >= to) continue;  // of the last step the place is below 1
    if (const std::optional<double> value = number(run.steps[i])) values.push_back(*value);
  }
  return finite_median(values);
}

bool RunFacts::trainable(const std::string& parameter) const {
  const ParameterInfo* info = named(run.layout, parameter);
  return !info || info->trainable;
}

std::vector<std::string> RunFacts::weights() const {
  std::vector<std::string> out;
  for (const ParameterInfo& p : run.layout)
    if (p.trainable && p.shape.size() > 1) out.push_back(p.name);
  return out;
}

}  // namespace xtape
