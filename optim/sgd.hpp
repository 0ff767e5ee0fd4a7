// Stochastic gradient descent with momentum in PyTorch's form (Sutskever et al. 2013), and along a running mean of the
// gradients.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>
#include <xtape/optim/optimizer.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct SgdOptions {
  double momentum = 0;    ///< at least 0 and below 1; with 0 the optimizer has no slot
  double dampening = 0;   ///< 0 to 1; ignored in the first step, as in PyTorch
  bool nesterov = false;  ///< needs a momentum above 0 and a dampening of 0
};

/// v = momentum v + (1 - dampening) g, then w -= lr v; Nesterov: w -= lr (g + momentum v). The learning rate is not
/// part of the velocity v, so a change of the rate takes effect at once. Weight decay is L2 regularization: g += decay
/// w, before the velocity. Slot: momentum_buffer (v).
class SGD : public Optimizer {
 public:
  /// Throws ValueError for an option outside its domain, NameError for a parameter given twice.
  explicit SGD(std::vector<ParamGroup> groups, const SgdOptions& options = {})
      : SGD("sgd", Decay::l2, std::move(groups), options) {}

 protected:
  SGD(const char* name, Decay decay, std::vector<ParamGroup> groups, const SgdOptions& options);

 private:
  kernels::MomentumStep numbers(const Update& update) const;
  double update(const Update& update) const final;
  double bound(const Update& rates, double gradient, Bounds& state) const final;

  SgdOptions options_;
};

/// SGD with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 1): w -= lr decay w, without effect on the
/// velocity. Without momentum it equals SGD.
class SGDW : public SGD {
 public:
  /// Throws as SGD.
  explicit SGDW(std::vector<ParamGroup> groups, const SgdOptions& options = {})
      : SGD("sgdw", Decay::decoupled, std::move(groups), options) {}
};

struct AveragedSgdOptions {
  double beta = 0.9;             ///< at least 0 and below 1
  bool bias_correction = false;  ///< divide v by 1 - beta^t in step t, which makes it unbiased from the first step on
};

/// v = beta v + (1 - beta) g, from v = 0, then w -= lr v. Not PyTorch's ASGD, which averages the weights. At a constant
/// rate this equals SGD with momentum beta at the rate lr (1 - beta). The bias correction applies to the update only,
/// not to the stored v. Weight decay is L2 regularization: g += decay w, before the running mean. Slot: exp_avg (v).
class AveragedSGD : public Optimizer {
 public:
  /// Throws as SGD.
  explicit AveragedSGD(std::vector<ParamGroup> groups, const AveragedSgdOptions& options = {})
      : AveragedSGD("averaged_sgd", Decay::l2, std::move(groups), options) {}

 protected:
  AveragedSGD(const char* name, Decay decay, std::vector<ParamGroup> groups, const AveragedSgdOptions& options);

 private:
  kernels::MomentumStep numbers(const Update& update) const;
  double update(const Update& update) const final;
  double bound(const Update& rates, double gradient, Bounds& state) const final;

  AveragedSgdOptions options_;
};

/// AveragedSGD with decoupled weight decay: w -= lr decay w, without effect on the running mean.
class AveragedSGDW : public AveragedSGD {
 public:
  /// Throws as SGD.
  explicit AveragedSGDW(std::vector<ParamGroup> groups, const AveragedSgdOptions& options = {})
      : AveragedSGD("averaged_sgdw", Decay::decoupled, std::move(groups), options) {}
};

}  // namespace xtape::inline XTAPE_DTYPE
