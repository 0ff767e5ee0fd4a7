// Causes that the validation shows, and a training that learns nothing for no other reason.
#include <xtape/inspect/run/series.hpp>
#include <xtape/inspect/verdicts/causes.hpp>
#include <xtape/inspect/verdicts/limits.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

struct Validation {
  index_t step;
  double loss, training;
};

std::vector<Validation> validations_of(const RunFacts& facts) {
  std::vector<Validation> out;
  for (const StepRecord& s : facts.run.steps)
    if (s.validation_loss) out.push_back({s.step, *s.validation_loss, s.loss});
  return out;
}

}  // namespace

void find_broken_validation(const RunFacts& facts, Causes& out) {
  if (facts.outcome == Outcome::broken || facts.first_nonfinite >= 0) return;  // a consequence
  const std::vector<Validation> all = validations_of(facts);
  const auto at = std::find_if(all.begin(), all.end(), [](const Validation& v) { return !std::isfinite(v.loss); });
  if (at == all.end()) return;
  out.push_back({"validation_nonfinite", Finding::bad,
                 "The validation loss is " + format_3g(at->loss) + " at step " + std::to_string(at->step) + ".",
                 std::to_string(std::count_if(all.begin(), all.end(),
                                              [](const Validation& v) { return !std::isfinite(v.loss); })) +
                     " of " + std::to_string(all.size()) + " validation losses are not finite",
                 "Look at the validation data, and at the model in evaluation mode.", at->step});
}

/// Training falls while validation rises: from the start if the two are not of one kind, from some step on if the model
/// learns by heart.
void find_overfitting(const RunFacts& facts, Causes& out) {
  const std::vector<Validation> all = validations_of(facts);
  const auto good = [](const Validation& v) { return std::isfinite(v.loss) && v.loss > 0; };
  if (all.size() < 3 || !facts.end || !(facts.size() > 0) || !std::all_of(all.begin(), all.end(), good)) return;
  const auto best = std::min_element(all.begin(), all.end(),
                                     [](const Validation& a, const Validation& b) { return a.loss < b.loss; });
  const double last = all.back().loss, floor = limits::kLossFloor * facts.size();
  const std::string numbers = "validation " + format_3g(best->loss) + " at step " + std::to_string(best->step) + ", " +
                              format_3g(last) + " at the end; training " + format_3g(*facts.end);
  // Before the model can have learned anything by heart, validation follows training.
  const auto early = std::find_if(all.begin(), all.end(), [&](const Validation& v) {
    return v.step > 0 && v.training < limits::kLearned * facts.size();
  });
  const bool gap =
      last > limits::kGap * std::max(*facts.end, floor) && last - *facts.end > limits::kLargeRise * facts.size();
  const bool rises = last > limits::kRise * best->loss && last - best->loss > limits::kLargeRise * facts.size();
  const bool apart = gap && early != all.end() && early->loss > limits::kFarGap * std::max(early->training, floor);
  const bool useless = best->loss > limits::kNeverGood * facts.size();
  if (apart && (useless || !rises || early->loss > limits::kGap * facts.size())) {
    out.push_back({"validation_mismatch", Finding::bad,
                   "What is learned in training is of no use in validation, from the start.",
                   numbers + "; at step " + std::to_string(early->step) + " already training " +
                       format_3g(early->training) + ", validation " + format_3g(early->loss),
                   "Do targets leak into the inputs? Are both kinds of data prepared alike? Do the statistics of batch "
                   "norm follow the data?",
                   early->step});
    return;
  }
  if (!rises || !gap) return;
  out.push_back({"overfitting", Finding::warning, "The model overfits from step " + std::to_string(best->step) + " on.",
                 numbers, "Stop there, or use more data, dropout, weight decay or a smaller model.", best->step});
}

void find_dropout(const RunFacts& facts, Causes& out) {
  const auto p = facts.median_of([](const StepRecord& s) { return s.dropout; });
  if (!p || *p < limits::kMuchDropout || facts.learns()) return;
  out.push_back({"too_much_dropout", Finding::bad, "Dropout leaves too little to learn from.",
                 "dropout " + format_3g(*p) + " (limit " + format_3g(limits::kMuchDropout) +
                     "), and the loss stays at " + format_3g(facts.end.value_or(NAN)),
                 "Lower the dropout.", 0});
}

void find_noise(const RunFacts& facts, Causes& out) {
  double sum = 0, count = 0;
  for (const StepRecord& s : facts.run.steps)
    if (s.interval.cosines > 0) {
      sum += s.interval.grad_cosine * static_cast<double>(s.interval.cosines);
      count += static_cast<double>(s.interval.cosines);
    }
  const auto targets = facts.median_of([](const StepRecord& s) -> std::optional<double> {
    return s.targets ? std::optional(static_cast<double>(*s.targets)) : std::nullopt;
  });
  if (count < limits::kNoiseSteps || !targets || *targets > limits::kFewTargets) return;
  // The training loss of so few examples is noise itself.
  const std::vector<Validation> all = validations_of(facts);
  if (all.empty() ? facts.learns() : !(all.back().loss > limits::kNoisyLoss * facts.size())) return;
  const double cosine = sum / count;
  if (std::abs(cosine) > limits::kNoise) return;
  out.push_back({"gradient_noise", Finding::warning, "The gradients are mostly noise.",
                 "the mean cosine of successive gradients is " + format_3g(cosine) + " (limit " +
                     format_3g(limits::kNoise) + "), a batch has " + format_3g(*targets) +
                     " targets, and the loss falls by less than half",
                 "Use a larger batch, or lower the learning rate.", 0});
}

/// Whatever else: a training that gets nowhere, or worse.
void find_failure(const RunFacts& facts, Causes& out) {
  if (facts.outcome != Outcome::stuck && facts.outcome != Outcome::worse) return;
  const bool worse = facts.outcome == Outcome::worse;
  out.push_back({worse ? "late_divergence" : "stuck_at_chance", Finding::bad,
                 worse          ? "The loss ends above its start."
                 : facts.chance ? "The loss stays at that of knowing nothing."
                                : "The loss does not fall.",
                 "loss " + format_3g(*facts.start) + " at the start, " + format_3g(*facts.end) + " at the end" +
                     (facts.chance ? ", " + format_3g(*facts.chance) + " for knowing nothing" : ""),
                 worse ? "Lower the learning rate, or clip."
                       : "The log does not show why. Do inputs and targets belong together?",
                 0});
}

}  // namespace xtape
