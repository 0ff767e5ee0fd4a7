// Gradient descent along a running mean of the gradients. Not PyTorch's ASGD, which averages the weights.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>
#include <xtape/optim/optimizer.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct AveragedSgdOptions {
  double beta = 0.9;             ///< at least 0 and below 1
  bool bias_correction = false;  ///< divide v by 1 - beta^t in step t, which makes it unbiased from the first step on
};

/// Common part of AveragedSGD and AveragedSGDW: v = beta v + (1 - beta) g, from v = 0, then w -= lr v. At a constant
/// rate this equals SGD with momentum beta at the rate lr (1 - beta). The bias correction applies to the update only,
/// not to the stored v. Slot: exp_avg (v).
class AveragedSgdBase : public Optimizer {
 protected:
  AveragedSgdBase(const char* name, Decay decay, std::vector<ParamGroup> groups, const AveragedSgdOptions& options);

 private:
  kernels::MomentumStep numbers(const Update& update) const;
  double update(const Update& update) const final;
  double bound(const Update& rates, double gradient, Bounds& state) const final;

  AveragedSgdOptions options_;
};

/// Weight decay as L2 regularization: g += decay w, before the running mean.
class AveragedSGD : public AveragedSgdBase {
 public:
  /// Throws ValueError for an option outside its domain, NameError for a parameter given twice.
  explicit AveragedSGD(std::vector<ParamGroup> groups, const AveragedSgdOptions& options = {})
      : AveragedSgdBase("averaged_sgd", Decay::l2, std::move(groups), options) {}
};

/// Decoupled weight decay: w -= lr decay w, without effect on the running mean.
class AveragedSGDW : public AveragedSgdBase {
 public:
  /// Throws ValueError for an option outside its domain, NameError for a parameter given twice.
  explicit AveragedSGDW(std::vector<ParamGroup> groups, const AveragedSgdOptions& options = {})
      : AveragedSgdBase("averaged_sgdw", Decay::decoupled, std::move(groups), options) {}
};

}  // namespace xtape::inline XTAPE_DTYPE
