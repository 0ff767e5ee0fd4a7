// Gradient descent along a running average of gradients. (PyTorch's ASGD is another thing: it averages weights.)
#pragma once

#include <xtape/optim/optimizer.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct AveragedSgdOptions {
  double beta = 0.9;             ///< from 0 to below 1
  bool bias_correction = false;  ///< step along v / (1 - beta^t), which is unbiased from the first step on
};

/// What both forms share: v = beta v + (1 - beta) g from v = 0, then w -= lr v. At a constant rate this is SGD with
/// momentum beta at the rate lr (1 - beta). The correction is used and not fed back into v. Slot: exp_avg (v).
class AveragedSgdBase : public Optimizer {
 protected:
  AveragedSgdBase(const char* name, Decay decay, std::vector<ParamGroup> groups, const AveragedSgdOptions& options);

 private:
  double update(const Update& update) const final;

  AveragedSgdOptions options_;
};

/// Weight decay is added to the gradient (g += decay w) before the average: L2 regularisation.
class AveragedSGD : public AveragedSgdBase {
 public:
  /// Throws ValueError for options outside their domain, NameError for a parameter given twice.
  explicit AveragedSGD(std::vector<ParamGroup> groups, const AveragedSgdOptions& options = {})
      : AveragedSgdBase("averaged_sgd", Decay::l2, std::move(groups), options) {}
};

/// Weight decay is decoupled: w -= lr decay w, outside the average.
class AveragedSGDW : public AveragedSgdBase {
 public:
  /// Throws ValueError for options outside their domain, NameError for a parameter given twice.
  explicit AveragedSGDW(std::vector<ParamGroup> groups, const AveragedSgdOptions& options = {})
      : AveragedSgdBase("averaged_sgdw", Decay::decoupled, std::move(groups), options) {}
};

}  // namespace xtape::inline XTAPE_DTYPE
