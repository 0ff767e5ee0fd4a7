// Cross-entropy. Losses that compare element by element are in pointwise_loss.hpp.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// From one loss an element (for cross-entropy: a target) to the result. The mean of no losses is 0 (PyTorch: NaN).
enum class Reduction {
  mean,       ///< over the counted losses
  sum,        ///< of all losses
  none,       ///< every loss by itself
  batchmean,  ///< the sum divided by the first extent
};

constexpr index_t kIgnore = -100;

struct CrossEntropyOptions {
  index_t ignore = kIgnore;  ///< targets with this value count nothing and get exactly zero gradient
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;  ///< part of each target that is spread evenly over all classes, from 0 to 1
};

/// -log softmax(logits)[target], computed from the shifted logits. logits [..., V], targets [...] with values 0..V-1 or
/// `ignore`. The mean is over the counted targets; `none` gives one loss for each target, 0 where ignored. In nats.
/// A row of minus infinities has an infinite loss and zero gradient. Throws ShapeError, IndexError for a target out of
/// range, or ValueError for a smoothing outside 0..1.
Tensor cross_entropy(const Tensor& logits, const IndexArray& targets, CrossEntropyOptions options = {});

/// The same for targets that are distributions over the classes: -sum(targets log softmax(logits)) over the last axis.
/// logits and targets [..., V]; the targets are not normalised, may be tracked, and where one is 0 a logit may be minus
/// infinity. `ignore` has no meaning here. Throws ShapeError or ValueError.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options = {});

}  // namespace xtape::inline XTAPE_DTYPE
