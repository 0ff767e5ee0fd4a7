// Losses that compare input and target element by element. Both have one shape and both may be tracked; the reduction
// is over all elements. All throw ShapeError if the shapes differ.
#pragma once

#include <xtape/core/ops/loss.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// (input - target)^2.
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

/// |input - target|; the gradient where they agree is 0.
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

struct HuberOptions {
  real delta = 1;  ///< distance at which the loss turns linear
  Reduction reduction = Reduction::mean;
};

/// d^2/2 for |d| <= delta, delta (|d| - delta/2) beyond, d = input - target (Huber 1964). Throws ValueError unless
/// delta > 0.
Tensor huber_loss(const Tensor& input, const Tensor& target, HuberOptions options = {});

struct BinaryCrossEntropyOptions {
  Tensor weight = {};      ///< factor of each loss; broadcasts to the input
  Tensor pos_weight = {};  ///< factor of the target's term; broadcasts to the input
  Reduction reduction = Reduction::mean;
};

/// -(pos_weight t log s(x) + (1 - t) log(1 - s(x))) weight, s the sigmoid, for logits x and targets t in 0..1, from the
/// logits so that nothing overflows or cancels. In nats. Throws ShapeError if a weight does not broadcast.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        BinaryCrossEntropyOptions options = {});

struct KlDivOptions {
  bool log_target = false;                ///< the target is given as logs too
  Reduction reduction = Reduction::mean;  ///< `batchmean` is the divergence of whole distributions
};

/// Kullback-Leibler divergence, t (log t - input) for a target t and an input of log-probabilities; 0 where t is 0.
/// With `log_target` exp(t) (t - input).
Tensor kl_div(const Tensor& input, const Tensor& target, KlDivOptions options = {});

}  // namespace xtape::inline XTAPE_DTYPE
