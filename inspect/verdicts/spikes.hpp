// Watch: looks at loss and gradient norm of every step, logged or not, and says what is out of the ordinary.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace xtape {

/// What to do about a step whose loss or gradient is not finite, or that is a spike.
enum class OnTrouble {
  warn,  ///< say so; the optimizer itself leaves the weights alone when a gradient is not finite
  skip,  ///< RunLog::accepts says false, so that no update is made, for spikes too
  stop,  ///< throw DivergedError for what is not finite
};

/// The policy of that name. Throws ValueError for another name.
OnTrouble on_trouble(const std::string& name);

struct BadStep {
  enum class Kind { nonfinite, spike } kind;
  std::string text;  ///< "step 7: the loss is NaN"
  double value;
};

class SpikeDetector {
 public:
  /// What is wrong with a step, judged by the steps noted before; nothing if all is well.
  std::optional<BadStep> judge(index_t step, double loss, double grad_norm) const;

  /// Distance from the mean of the last steps in standard deviations; of the norm, of its logarithm. Nothing before
  /// there are enough steps, or if they are all equal.
  std::optional<double> loss_z(double loss) const { return z(history_.losses, loss); }
  std::optional<double> grad_norm_z(double norm) const;

  /// A step that is over. What is not finite does not change what is ordinary.
  void note(double loss, double grad_norm);

  /// The finite numbers of the last steps, for a run that goes on later.
  struct History {
    std::deque<double> losses, norms, log_norms;
  };
  const History& history() const { return history_; }
  void restore(History history) { history_ = std::move(history); }

 private:
  static std::optional<double> z(const std::deque<double>& before, double value);

  History history_;  // of the last kSpikeWindow steps
};

}  // namespace xtape
