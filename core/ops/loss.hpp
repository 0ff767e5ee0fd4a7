// Losses: cross-entropy over classes, and losses that compare input and target element by element. Logarithms are
// natural.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// How the losses of the elements (for cross-entropy: of the targets) become the result. The mean of no losses is 0
/// (PyTorch gives NaN).
enum class Reduction {
  mean,       ///< sum divided by the number of losses, ignored targets not counted
  sum,        ///< sum
  none,       ///< one loss for each element or target
  batchmean,  ///< sum divided by the first dimension; a ShapeError for a scalar
};

constexpr index_t kIgnore = -100;

struct CrossEntropyOptions {
  index_t ignore = kIgnore;  ///< targets of this value are not counted and give exactly zero gradient
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;  ///< share of each target that is spread evenly over all classes, 0..1
};

/// -log softmax(logits)[target] for class indices. logits [..., V], targets [...] with values 0..V-1 or `ignore`.
/// Reduction `none` gives the shape of the targets, with loss 0 where they are ignored. A row of minus infinities has
/// an infinite loss and zero gradient. Throws ShapeError if the shapes do not match, IndexError for a target out of
/// range, ValueError for a smoothing outside 0..1.
Tensor cross_entropy(const Tensor& logits, const IndexArray& targets, CrossEntropyOptions options = {});

/// -sum(targets log softmax(logits)) over the last axis, for distributions over classes. logits and targets [..., V].
/// The targets need not sum to 1 and may be tracked. Where a target is 0 its logit may be minus infinity. `ignore` is
/// not used. Throws ShapeError if the shapes differ, ValueError for a smoothing outside 0..1.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options = {});

// The losses below take input and target of one shape, both of which may be tracked, and reduce over all elements.
// All throw ShapeError if the shapes differ.

/// (input - target)^2.
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

/// |input - target|; the derivative where they are equal is 0.
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

struct HuberOptions {
  real delta = 1;  ///< distance beyond which the loss is linear
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

/// -(pos_weight t log s(x) + (1 - t) log(1 - s(x))) weight, s the sigmoid, for logits x and targets t in 0..1. Computed
/// from the logits, so that nothing overflows or cancels. Throws ShapeError if a weight does not broadcast.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BinaryCrossEntropyOptions& options = {});

struct KlDivOptions {
  bool log_target = false;                ///< the target holds logarithms, as the input does
  Reduction reduction = Reduction::mean;  ///< `batchmean` is the divergence of whole distributions
};

/// Kullback-Leibler divergence t (log t - input) of a target t from an input of log-probabilities; 0 where t is 0. With
/// `log_target` exp(t) (t - input).
Tensor kl_div(const Tensor& input, const Tensor& target, KlDivOptions options = {});

}  // namespace xtape::inline XTAPE_DTYPE
