// Adam with L2 (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019).
#pragma once

#include <xtape/optim/param_groups.hpp>

#include <map>

namespace xtape::inline XTAPE_FLAVOUR {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;  ///< added to sqrt(v), after bias correction
};

/// State of one parameter, keyed by its name.
struct AdamState {
  std::int64_t steps = 0;
  Array first;   ///< m, the mean of gradients
  Array second;  ///< v, the mean of squared gradients
};

/// What both forms share: with bias-corrected means m and v of the gradient, w -= lr m / (sqrt(v) + eps).
class AdamBase {
 public:
  /// Steps every trainable parameter that has a gradient. If any gradient is not finite nothing is changed and false is
  /// returned. Throws ValueError for a negative or NaN rate, GradientError after a failed backward pass.
  bool step(double lr);

  const std::vector<ParamGroup>& groups() const { return groups_; }
  const std::map<std::string, AdamState>& state() const { return state_; }

  /// 2-norm of the last change of a parameter, decay included, computed from the state; 0 before its first step.
  double update_norm(const Parameter& parameter) const;

 protected:
  enum class Decay { l2, decoupled };
  AdamBase(const char* name, Decay decay, std::vector<ParamGroup> groups, const AdamOptions& options);

 private:
  const char* name_;
  Decay decay_;
  std::vector<ParamGroup> groups_;
  AdamOptions options_;
  std::map<std::string, AdamState> state_;
  double last_lr_ = 0;
};

/// Weight decay is added to the gradient (g += decay w) before the means: L2 regularisation.
class Adam : public AdamBase {
 public:
  /// Throws ValueError for options outside their domain, NameError for a parameter given twice.
  explicit Adam(std::vector<ParamGroup> groups, const AdamOptions& options = {})
      : AdamBase("adam", Decay::l2, std::move(groups), options) {}
};

/// Weight decay is decoupled: w -= lr decay w, outside the means and before the step.
class AdamW : public AdamBase {
 public:
  /// Throws ValueError for options outside their domain, NameError for a parameter given twice.
  explicit AdamW(std::vector<ParamGroup> groups, const AdamOptions& options = {})
      : AdamBase("adamw", Decay::decoupled, std::move(groups), options) {}
};

}  // namespace xtape::inline XTAPE_FLAVOUR
