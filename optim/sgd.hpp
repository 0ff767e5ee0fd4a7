// Stochastic gradient descent with momentum (Sutskever et al. 2013), in PyTorch's form.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>
#include <xtape/optim/optimizer.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct SgdOptions {
  double momentum = 0;    ///< at least 0 and below 1; with 0 the optimizer has no slot
  double dampening = 0;   ///< 0 to 1; ignored in the first step, as in PyTorch
  bool nesterov = false;  ///< needs a momentum above 0 and a dampening of 0
};

/// Common part of SGD and SGDW: v = momentum v + (1 - dampening) g, then w -= lr v; Nesterov: w -= lr (g + momentum v).
/// The learning rate is not part of the velocity v, so a change of the rate takes effect at once. Slot: momentum_buffer
/// (v).
class SgdBase : public Optimizer {
 protected:
  SgdBase(const char* name, Decay decay, std::vector<ParamGroup> groups, const SgdOptions& options);

 private:
  kernels::MomentumStep numbers(const Update& update) const;
  double update(const Update& update) const final;
  double bound(const Update& rates, double gradient, Bounds& state) const final;

  SgdOptions options_;
};

/// SGD with L2 regularization: g += decay w, before the velocity.
class SGD : public SgdBase {
 public:
  /// Throws ValueError for an option outside its domain, NameError for a parameter given twice.
  explicit SGD(std::vector<ParamGroup> groups, const SgdOptions& options = {})
      : SgdBase("sgd", Decay::l2, std::move(groups), options) {}
};

/// SGD with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 1): w -= lr decay w, without effect on the
/// velocity. Without momentum it equals SGD.
class SGDW : public SgdBase {
 public:
  /// Throws ValueError for an option outside its domain, NameError for a parameter given twice.
  explicit SGDW(std::vector<ParamGroup> groups, const SgdOptions& options = {})
      : SgdBase("sgdw", Decay::decoupled, std::move(groups), options) {}
};

}  // namespace xtape::inline XTAPE_DTYPE
