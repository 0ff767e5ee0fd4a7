// Adam with L2 (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019).
#pragma once

#include <xtape/core/kernels/isa/types.hpp>
#include <xtape/optim/optimizer.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct AdamOptions {
  double beta1 = 0.9;    ///< at least 0 and below 1
  double beta2 = 0.999;  ///< at least 0 and below 1
  double eps = 1e-8;     ///< added to sqrt(v) after bias correction
};

/// m and v are the running means of the gradient and of its square, with bias correction; the update is
/// w -= lr m / (sqrt(v) + eps). Weight decay is L2 regularization: g += decay w, before the running means. Slots:
/// exp_avg (m) and exp_avg_sq (v), without the correction.
class Adam : public Optimizer {
 public:
  /// Throws ValueError for an option outside its domain, NameError for a parameter given twice.
  explicit Adam(std::vector<ParamGroup> groups, const AdamOptions& options = {})
      : Adam("adam", Decay::l2, std::move(groups), options) {}

 protected:
  Adam(const char* name, Decay decay, std::vector<ParamGroup> groups, const AdamOptions& options);

 private:
  kernels::AdamStep numbers(const Update& update) const;
  double update(const Update& update) const final;
  double bound(const Update& rates, double gradient, Bounds& state) const final;

  AdamOptions options_;
};

/// Adam with decoupled weight decay: w -= lr decay w, before the step and without effect on the running means.
class AdamW : public Adam {
 public:
  /// Throws as Adam.
  explicit AdamW(std::vector<ParamGroup> groups, const AdamOptions& options = {})
      : Adam("adamw", Decay::decoupled, std::move(groups), options) {}
};

}  // namespace xtape::inline XTAPE_DTYPE
