// Adam with L2 (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019).
#pragma once

#include <xtape/optim/optimizer.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct AdamOptions {
  double beta1 = 0.9;    ///< from 0 to below 1
  double beta2 = 0.999;  ///< from 0 to below 1
  double eps = 1e-8;     ///< added to sqrt(v), after bias correction
};

/// What both forms share: with m and v the bias-corrected running means of the gradient and of its square,
/// w -= lr m / (sqrt(v) + eps). Slots: exp_avg (m) and exp_avg_sq (v), before correction.
class AdamBase : public Optimizer {
 protected:
  AdamBase(const char* name, Decay decay, std::vector<ParamGroup> groups, const AdamOptions& options);

 private:
  double update(const Update& update) const final;

  AdamOptions options_;
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

}  // namespace xtape::inline XTAPE_DTYPE
