// Verdicts on the training as a whole: NaN and infinity, divergence, spikes, whether the loss falls.
#include <xtape/core/number_text.hpp>
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/limits.hpp>
#include <xtape/inspect/verdicts/spikes.hpp>
#include <xtape/inspect/verdicts/verdicts.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace xtape {

namespace {

std::string at(index_t step) { return "step " + std::to_string(step); }

bool broken(const StepRecord& s) { return !std::isfinite(s.loss) || !std::isfinite(s.grad_norm); }

/// The first layer, in order of execution, whose output is not finite; else the first parameter whose gradient is not.
std::string broken_layer(const StepRecord& s) {
  for (const LayerStats& layer : s.layers)
    if (!std::isfinite(layer.mean)) return layer.name;
  for (const ParameterStats& p : s.parameters)
    if (!std::isfinite(p.grad_norm) || p.grad_nonfinite.value_or(0) > 0) return p.name;
  return "";
}

const EventRecord* first_event(const RunData& run, const std::string& kind) {
  const auto found =
      std::find_if(run.events.begin(), run.events.end(), [&](const EventRecord& e) { return e.kind == kind; });
  return found == run.events.end() ? nullptr : &*found;
}

Verdict judge_finite(const RunData& run) {
  Verdict v{"finite", Finding::fine, "All numbers are finite.", "no loss or gradient norm is NaN or infinite"};
  const EventRecord* event = first_event(run, "nonfinite");
  const EventRecord* anomaly = first_event(run, "anomaly");
  const auto breaks = [&](const StepRecord& s) { return run.only_norms ? !std::isfinite(s.grad_norm) : broken(s); };
  const auto logged = std::find_if(run.steps.begin(), run.steps.end(), breaks);
  if (!event && !anomaly && logged == run.steps.end()) {
    if (run.steps.empty()) return {"finite", Finding::unmeasured, "Nothing is known yet.", "no step is logged"};
    return v;
  }
  index_t last_event = -1;
  for (const EventRecord& e : run.events)
    if (e.kind == "nonfinite") last_event = std::max(last_event, e.step);
  const bool ends_broken = run.steps.empty() || breaks(run.steps.back()) || last_event >= run.steps.back().step;
  v.finding = ends_broken ? Finding::bad : Finding::warning;
  v.step = logged == run.steps.end() ? (event ? event->step : anomaly->step) : logged->step;
  if (event) v.step = std::min(*v.step, event->step);
  if (anomaly) v.step = std::min(*v.step, anomaly->step);
  v.layer = anomaly ? anomaly->layer : logged != run.steps.end() ? broken_layer(*logged) : "";
  v.answer = "The first number that is not finite comes at " + at(*v.step) +
             (v.layer.empty() ? "" : (anomaly ? ", in layer " : ", seen in ") + v.layer) + ".";
  v.evidence = anomaly ? anomaly->text
               : event ? event->text
                       : "loss " + format_3g(logged->loss) + ", gradient norm " + format_3g(logged->grad_norm);
  if (!ends_broken) v.evidence += "; later steps are finite";
  v.remedy = anomaly ? "Look at the arrays beside " + anomaly->file + "." : "Run again with --detect-anomaly.";
  return v;
}

/// Whether all losses are on one side of 0. Only then is |x| of one of them a size that others can be a share of: where
/// losses change their sign, a median may be nearly 0.
bool of_one_sign(const std::vector<double>& losses) {
  const auto all = [&](const auto& test) {
    return std::all_of(losses.begin(), losses.end(), [&](double x) { return !std::isfinite(x) || test(x); });
  };
  return all([](double x) { return x > 0; }) || all([](double x) { return x < 0; });
}

std::vector<double> finite_sizes(std::span<const double> values) {
  std::vector<double> out;
  for (double x : values)
    if (std::isfinite(x)) out.push_back(std::abs(x));
  return out;
}

Verdict judge_divergence(const RunData& run, const std::vector<double>& losses) {
  if (run.only_norms || losses.size() < limits::kFewSteps)
    return {"diverged", Finding::unmeasured, "Not known.",
            "fewer than " + std::to_string(limits::kFewSteps) + " losses are logged"};
  double best = INFINITY;
  index_t best_step = 0;
  const std::size_t tenth = first_tenth(losses).size();
  for (std::size_t i = 0; i + tenth <= losses.size(); ++i)
    if (const auto middle = finite_median(std::span(losses).subspan(i, tenth)); middle && *middle < best) {
      best = *middle;
      best_step = run.steps[i].step;
    }
  const std::optional<double> early = finite_median(first_tenth(losses)), late = finite_median(last_tenth(losses));
  if (!early || !late)
    return {"diverged", Finding::unmeasured, "Not known.", "the losses at one end of the run are not finite"};
  const double first = *early, last = *late;
  const std::string numbers = "median loss of the first tenth " + format_3g(first) + ", best " + format_3g(best) +
                              " at " + at(best_step) + ", last tenth " + format_3g(last);
  const bool one_sign = of_one_sign(losses);
  const std::vector<double> sizes = finite_sizes(losses);
  const double size = one_sign ? std::abs(best) : *std::max_element(sizes.begin(), sizes.end());
  if (last > first && last - best > (limits::kDivergedLoss - 1) * size)
    return {"diverged",
            Finding::bad,
            "The run diverged after " + at(best_step) + ".",
            numbers + " (limit " +
                (one_sign ? format_3g(limits::kDivergedLoss) + " times the best)"
                          : format_3g(limits::kDivergedLoss - 1) + " of the largest |loss| above the best)"),
            "Lower the learning rate, or clip.",
            best_step};
  return {"diverged", Finding::fine, "It did not diverge.", numbers};
}

/// Whether the norm at a logged step is also far above the norms after it, or, at the last step, above the one before.
/// Otherwise it is the start of a new level and not a spike.
bool sticks_out(const RunData& run, std::size_t at) {
  std::vector<double> others;
  for (std::size_t i = at + 1; i < run.steps.size() && others.size() < limits::kSpikeMinimum; ++i)
    others.push_back(run.steps[i].grad_norm);
  if (others.empty() && at > 0) others.push_back(run.steps[at - 1].grad_norm);
  const std::optional<double> usual = finite_median(others);
  return !usual || run.steps[at].grad_norm > limits::kSpikeFactor * *usual;
}

Verdict judge_spikes(const RunData& run) {
  const std::set<index_t> steps = spike_steps(run);
  if (steps.empty()) {
    if (run.steps.size() < limits::kSpikeMinimum && !first_event(run, "finished"))
      return {"spikes", Finding::unmeasured, "Not known.",
              "fewer than " + std::to_string(limits::kSpikeMinimum) + " steps are logged"};
    return {"spikes", Finding::fine, "There is no spike.",
            "no gradient norm is above " + format_3g(limits::kSpikeFactor) + " times the median of the steps before"};
  }
  Verdict v{"spikes",      Finding::warning, "", "", "Look at the batch of that step, and at the learning rate.",
            *steps.begin()};
  const EventRecord* first = first_event(run, "spike");
  const auto count = steps.size();
  v.answer = count == 1 ? "There is a spike at " + at(*steps.begin()) + "."
                        : "There are " + std::to_string(count) + " spikes, the first at " + at(*steps.begin()) + ".";
  std::string list;
  for (auto it = steps.begin(); it != steps.end() && std::distance(steps.begin(), it) < 5; ++it)
    list += (list.empty() ? "steps " : ", ") + std::to_string(*it);
  v.evidence = first ? first->text
                     : list + (count > 5 ? ", ..." : "") + ": above " + format_3g(limits::kSpikeFactor) +
                           " times the median norm of the steps before";
  return v;
}

Verdict judge_learning(const RunData& run, const std::vector<double>& losses, bool has_diverged) {
  if (has_diverged) return {"learning", Finding::unmeasured, "Not known.", "the run diverged"};
  constexpr std::size_t kEnough = 10;
  if (run.only_norms || losses.size() < kEnough)
    return {"learning", Finding::unmeasured, "Not known.",
            "fewer than " + std::to_string(kEnough) + " losses are logged"};
  const std::optional<double> first = finite_median(first_tenth(losses)), last = finite_median(last_tenth(losses)),
                              half = finite_median(
                                  std::span(losses).subspan(losses.size() / 2, first_tenth(losses).size()));
  if (!first || !last || !half) return {"learning", Finding::unmeasured, "Not known.", "no finite loss is logged"};
  const std::string numbers = "median loss of the first tenth " + format_3g(*first) + ", at half of the run " +
                              format_3g(*half) + ", of the last tenth " + format_3g(*last);
  const bool one_sign = of_one_sign(losses);
  // Equality is no fall: at 0 the limit is 0.
  const auto falls = [&](double from, std::span<const double> part) {
    const double size = one_sign ? std::abs(from) : std::max(std::abs(from), median(finite_sizes(part)));
    return from - *last > limits::kPlateau * size;
  };
  if (!falls(*first, losses))
    return {"learning", Finding::warning, "The loss does not fall.", numbers,
            "Compare with the loss of knowing nothing; try another learning rate."};
  if (!falls(*half, std::span(losses).subspan(losses.size() / 2)))
    return {"learning", Finding::warning, "The loss stands still in the second half.", numbers,
            "Stop earlier, lower the rate at the end, or use a larger model."};
  return {"learning", Finding::fine, "The loss falls.", numbers};
}

Verdict judge_untrained(const RunData& run) {
  const auto unmeasured = [](const char* why) {
    return Verdict{"untrained_loss", Finding::unmeasured, "Not known.", why};
  };
  if (run.steps.empty() || run.only_norms || run.steps.front().step != 0) return unmeasured("step 0 is not logged");
  const StepRecord& s = run.steps.front();
  if (!s.classes || *s.classes < 2) return unmeasured("the loss is not over classes");
  const double blind = std::log(static_cast<double>(*s.classes));
  const std::string numbers = "loss " + number_text(s.loss, "%.4g") + " at step 0, ln " + std::to_string(*s.classes) +
                              " = " + number_text(blind, "%.4g") + " (limits " + format_3g(limits::kUntrainedBelow) +
                              " and " + format_3g(limits::kUntrainedAbove) + " times)";
  if (s.loss > limits::kUntrainedAbove * blind)
    return {"untrained_loss",
            Finding::warning,
            "The untrained model is worse than one that knows nothing.",
            numbers,
            "Start the output layer with smaller weights.",
            0};
  if (s.loss < limits::kUntrainedBelow * blind)
    return {"untrained_loss",
            Finding::warning,
            "The untrained model knows too much.",
            numbers,
            "Do targets leak into the inputs? Or were weights loaded?",
            0};
  return {"untrained_loss", Finding::fine, "The untrained loss is that of knowing nothing.", numbers};
}

}  // namespace

std::set<index_t> spike_steps(const RunData& run) {
  std::set<index_t> steps;
  for (const EventRecord& event : run.events)
    if (event.kind == "spike") steps.insert(event.step);
  SpikeDetector detector;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const StepRecord& s = run.steps[i];
    const double loss = run.only_norms ? 0 : s.loss;
    const std::optional<BadStep> trouble = detector.judge(s.step, loss, s.grad_norm);
    const bool of_the_loss = trouble && trouble->value == loss;
    if (trouble && trouble->kind == BadStep::Kind::spike && (of_the_loss || sticks_out(run, i))) steps.insert(s.step);
    detector.add(loss, s.grad_norm);
  }
  return steps;
}

std::vector<Verdict> judge_training(const RunData& run) {
  const std::vector<double> losses = series(run, [](const StepRecord& s) { return s.loss; });
  const Verdict divergence = judge_divergence(run, losses);
  return {judge_finite(run), divergence, judge_spikes(run),
          judge_learning(run, losses, divergence.finding == Finding::bad), judge_untrained(run)};
}

}  // namespace xtape
