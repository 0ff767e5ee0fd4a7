// RunFacts: what the causes ask of a run, computed once.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xtape {

/// How the training loss ends.
enum class Outcome {
  unknown,  ///< too few losses
  broken,   ///< NaN or infinite at the end
  worse,    ///< above its start
  stuck,    ///< where it started, or at the loss of knowing nothing
  weak,     ///< less than a quarter below it
  learns,
};

struct RunFacts {
  explicit RunFacts(const RunData& run);

  const RunData& run;
  std::vector<double> losses;    ///< of the logged steps
  std::optional<double> start;   ///< first finite loss
  std::optional<double> end;     ///< median of the last tenth
  index_t blown_lines = 0;       ///< logged steps, or steps between, with a loss of 5 times its start or more
  double highest = 0;            ///< loss of any step, logged or not
  std::optional<double> chance;  ///< ln(classes): the loss of knowing nothing
  Outcome outcome = Outcome::unknown;
  std::optional<double> best;             ///< lowest median of a tenth of the run
  index_t best_step = 0;                  ///< the last step of that tenth
  bool regained = false;                  ///< the loss had fallen, and is far up again at the end
  index_t steps = 0;                      ///< that the logged intervals cover
  index_t first_nonfinite = -1;           ///< first step with a loss or norm that is not finite; -1: none
  std::string optimizer;                  ///< "adamw"; "" if unknown
  std::map<std::string, double> options;  ///< of the optimizer

  /// Whether the training itself is good enough to call what it shows healthy.
  bool learns() const { return outcome == Outcome::learns; }
  /// What a loss is measured by: ln(classes), else the loss at the start; 0 if neither is known or positive.
  double size() const { return chance ? *chance : start && *start > 0 ? *start : 0; }
  Finding severity() const { return learns() ? Finding::warning : Finding::bad; }
  double option(const std::string& name) const;  ///< 0 if there is none
  bool adaptive() const;                         ///< an Adam: the size of its step does not depend on the gradient's

  /// Median over the logged steps at which the number exists; of the steps [from, to) by share of the run, if given.
  std::optional<double> median_of(const std::function<std::optional<double>(const StepRecord&)>& number,
                                  double from = 0, double to = 1) const;
  /// Trainable parameters with several axes: those whose update ratio means something.
  std::vector<std::string> weights() const;
  bool trainable(const std::string& parameter) const;
};

}  // namespace xtape
