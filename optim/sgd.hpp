// Stochastic gradient descent with momentum (Sutskever et al. 2013), in PyTorch's form.
#pragma once

#include <xtape/optim/optimizer.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct SgdOptions {
  double momentum = 0;    ///< at least 0 and below 1; 0: none, and nothing is remembered
  double dampening = 0;   ///< from 0 to 1; the first velocity is the whole gradient all the same
  bool nesterov = false;  ///< needs a momentum and no dampening
};

/// What both forms share: v = momentum v + (1 - dampening) g, then w -= lr v; Nesterov: w -= lr (g + momentum v). The
/// rate stands outside the velocity, so that a new one counts at once. Slot: momentum_buffer (v).
class SgdBase : public Optimizer {
 protected:
  SgdBase(const char* name, Decay decay, std::vector<ParamGroup> groups, const SgdOptions& options);

 private:
  double update(const Update& update) const final;

  SgdOptions options_;
};

/// Weight decay is added to the gradient (g += decay w) before the velocity: L2 regularisation.
class SGD : public SgdBase {
 public:
  /// Throws ValueError for options outside their domain, NameError for a parameter given twice.
  explicit SGD(std::vector<ParamGroup> groups, const SgdOptions& options = {})
      : SgdBase("sgd", Decay::l2, std::move(groups), options) {}
};

/// Weight decay is decoupled (Loshchilov and Hutter 2019, algorithm 1): w -= lr decay w, outside the velocity. Without
/// momentum the same as SGD.
class SGDW : public SgdBase {
 public:
  /// Throws ValueError for options outside their domain, NameError for a parameter given twice.
  explicit SGDW(std::vector<ParamGroup> groups, const SgdOptions& options = {})
      : SgdBase("sgdw", Decay::decoupled, std::move(groups), options) {}
};

}  // namespace xtape::inline XTAPE_DTYPE
