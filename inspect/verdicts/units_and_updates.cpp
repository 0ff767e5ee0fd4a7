// Verdicts on units, clipping, update sizes and layers that do not learn.
#include <xtape/core/number_text.hpp>
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/limits.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

std::string percent(double share) { return number_text(100 * share, "%.3g") + " %"; }

/// The units with the highest share, by the median over the logged steps.
struct Highest {
  std::string name;
  double share = 0;
  double limit = 0;
  bool any = false;
};

/// The units whose share is highest relative to its limit.
Highest highest(const RunData& run, const std::function<std::optional<double>(const UnitStats&)>& share,
                const std::function<double(const std::string&)>& limit) {
  Highest out;
  for (const std::string& name : names_in(run, &StepRecord::units)) {
    std::vector<double> values;
    for (const StepRecord& step : run.steps)
      if (const UnitStats* units = named(step.units, name))
        if (const std::optional<double> value = share(*units)) values.push_back(*value);
    const std::optional<double> middle = finite_median(values);
    if (middle && (!out.any || *middle / limit(name) > out.share / out.limit)) out = {name, *middle, limit(name), true};
  }
  return out;
}

double peak_rate(const RunData& run) {
  double peak = 0;
  for (const StepRecord& step : run.steps) peak = std::max(peak, std::isfinite(step.lr) ? step.lr : 0);
  return peak;
}

Verdict judge_clipping(const RunData& run) {
  const double peak = peak_rate(run);
  const auto warm =
      std::find_if(run.steps.begin(), run.steps.end(), [&](const StepRecord& s) { return s.lr >= 0.99 * peak; });
  index_t steps = 0, clipped = 0;
  for (auto step = warm; step != run.steps.end(); ++step) {
    steps += step->interval.steps;
    clipped += step->interval.clipped;
  }
  if (steps < limits::kClippedMinimum)
    return {"clipping", Finding::unmeasured, "Not known.",
            "fewer than " + std::to_string(limits::kClippedMinimum) + " steps after the warm-up are logged"};
  const double share = static_cast<double>(clipped) / static_cast<double>(steps);
  const std::string numbers = percent(share) + " of " + std::to_string(steps) + " steps after the warm-up";
  if (share > limits::kClipped)
    return {"clipping", Finding::warning, "Most steps are clipped: the limit sets the step size, not the gradient.",
            numbers + " (limit " + percent(limits::kClipped) + ")", "Raise the limit, or lower the learning rate."};
  return {"clipping", Finding::fine, clipped == 0 ? "No step is clipped." : "Few steps are clipped.", numbers};
}

bool is_frozen(const RunData& run, const std::string& parameter) {
  const ParameterInfo* info = named(run.layout, parameter);
  return info && !info->trainable;
}

/// Biases start at zero, so their update ratio means nothing.
bool is_bias(const std::string& name) { return name.find("bias") != name.npos; }

Verdict judge_ratios(const RunData& run) {
  const double peak = peak_rate(run);
  std::vector<double> medians;
  for (const StepRecord& step : run.steps) {
    if (!(step.lr > peak / 2)) continue;
    std::vector<double> ratios;
    for (const ParameterStats& p : step.parameters)
      if (!is_bias(p.name) && !is_frozen(run, p.name)) ratios.push_back(p.update_ratio);
    if (const auto middle = finite_median(ratios); middle && *middle > 0) medians.push_back(*middle);
  }
  const std::optional<double> ratio = finite_median(medians);
  if (!ratio)
    return {"update_ratio", Finding::unmeasured, "Not known.", "no update was measured while the rate was high"};
  const std::string numbers = "median |update| / |weight| " + format_3g(*ratio) +
                              " while the rate is above half its peak (limits " + format_3g(limits::kUpdateRatioLow) +
                              " to " + format_3g(limits::kUpdateRatioHigh) + ")";
  if (*ratio < limits::kUpdateRatioLow)
    return {"update_ratio", Finding::warning, "The weights hardly move.", numbers, "Raise the learning rate."};
  if (*ratio > limits::kUpdateRatioHigh)
    return {"update_ratio", Finding::warning, "The weights move in large steps.", numbers, "Lower the learning rate."};
  return {"update_ratio", Finding::fine, "The weights move at a good pace.", numbers};
}

Verdict judge_still_layers(const RunData& run) {
  std::vector<std::string> still;
  std::size_t looked_at = 0;
  std::string why;
  for (const std::string& name : names_in(run, &StepRecord::parameters)) {
    if (is_frozen(run, name)) continue;
    std::vector<double> gradients, ratios, others;
    for (const StepRecord& step : run.steps) {
      const ParameterStats* p = named(step.parameters, name);
      if (!p || !(step.lr > 0 || run.only_norms) || !std::isfinite(step.grad_norm)) continue;
      std::vector<double> all;
      for (const ParameterStats& q : step.parameters) all.push_back(q.update_ratio);
      gradients.push_back(p->grad_norm);
      ratios.push_back(p->update_ratio);
      others.push_back(finite_median(all).value_or(0));
    }
    if (gradients.empty()) continue;
    ++looked_at;
    const double ratio = finite_median(ratios).value_or(0), usual = finite_median(others).value_or(0);
    const bool no_gradient = std::all_of(gradients.begin(), gradients.end(), [](double g) { return g == 0; });
    const bool no_update = ratio == 0;  // also where the usual ratio is 0, of which there is no share
    if (!no_gradient && !no_update && !(ratio < limits::kLearningShare * usual && !is_bias(name))) continue;
    if (still.empty())
      why = no_gradient ? "its gradient is exactly 0 in all " + std::to_string(gradients.size()) + " logged steps"
            : no_update ? "its update ratio is 0 in the median step"
                        : "its update ratio " + format_3g(ratio) + " is below " + format_3g(limits::kLearningShare) +
                              " of the median's, " + format_3g(usual);
    still.push_back(name);
  }
  if (looked_at == 0) return {"still_layers", Finding::unmeasured, "Not known.", "no update was measured"};
  if (still.empty())
    return {"still_layers", Finding::fine, "Every layer learns.",
            std::to_string(looked_at) + " trainable parameters move"};
  return {"still_layers",
          Finding::warning,
          still.front() + " does not learn" +
              (still.size() > 1 ? ", nor do " + std::to_string(still.size() - 1) + " more." : "."),
          why,
          "Is it used by the loss? Are its units dead, or its gradient cut?",
          {},
          still.front()};
}

}  // namespace

std::vector<Verdict> judge_units(const RunData& run) {
  const Highest dead =
      highest(run, [](const UnitStats& u) { return u.dead; }, [](const std::string&) { return limits::kDead; });
  const Highest flat = highest(
      run,
      [](const UnitStats& u) -> std::optional<double> {
        if (!u.low || !u.high) return std::nullopt;
        return *u.low + *u.high;
      },
      [](const std::string& name) { return is_gate(name) ? limits::kSaturatedGate : limits::kSaturated; });
  std::vector<Verdict> out;
  if (!dead.any) out.push_back({"dead_units", Finding::unmeasured, "Not known.", "no relu was measured"});
  else if (dead.share > limits::kDead)
    out.push_back({"dead_units",
                   Finding::warning,
                   percent(dead.share) + " of the units of " + dead.name + " are dead.",
                   "0 for a whole batch, in the median step (limit " + percent(limits::kDead) + ")",
                   "Lower the rate, use a leaky relu, or start biases above 0.",
                   {},
                   dead.name});
  else
    out.push_back(
        {"dead_units", Finding::fine, "Units live.", "at most " + percent(dead.share) + " dead, in " + dead.name});
  if (!flat.any)
    out.push_back({"saturated_units", Finding::unmeasured, "Not known.", "no tanh, sigmoid or gate was measured"});
  else if (flat.share > flat.limit)
    out.push_back({"saturated_units",
                   Finding::warning,
                   percent(flat.share) + " of " + flat.name + " is saturated.",
                   "within 0.05 of its ends, in the median step (limit " + percent(flat.limit) + ")",
                   "Start with smaller weights, or lower the rate.",
                   {},
                   flat.name});
  else
    out.push_back({"saturated_units", Finding::fine, "Few values are saturated.",
                   "at most " + percent(flat.share) + ", in " + flat.name});
  return out;
}

std::vector<Verdict> judge_updates(const RunData& run) {
  return {judge_clipping(run), judge_ratios(run), judge_still_layers(run)};
}

}  // namespace xtape
