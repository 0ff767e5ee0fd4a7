// SpikeDetector: checks the loss and the gradient norm of every step, logged or not.
#pragma once

#include <xtape/core/config.hpp>

#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace xtape {

struct BadStep {
  enum class Kind { nonfinite, spike } kind;
  std::string text;  ///< "step 7: the loss is NaN"
  double value;
};

class SpikeDetector {
 public:
  /// What is wrong with a step, compared with the steps added before; nothing if it is normal. The limits are in
  /// limits.hpp.
  std::optional<BadStep> judge(index_t step, double loss, double grad_norm) const;

  /// Distance from the mean of the last steps in standard deviations; for the norm, that of its logarithm. Nothing if
  /// there are too few steps or they are all equal.
  std::optional<double> loss_z(double loss) const { return z(history_.losses, loss); }
  std::optional<double> grad_norm_z(double norm) const;

  /// Adds a step to the history. Values that are not finite are ignored.
  void add(double loss, double grad_norm);

  /// The finite values of the last steps, which a resumed run needs.
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
