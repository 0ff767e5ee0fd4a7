// Losses.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

enum class Reduction { mean, sum, none };

constexpr index_t kIgnore = -100;

struct CrossEntropyOptions {
  index_t ignore = kIgnore;  ///< targets with this value count nothing and get exactly zero gradient
  Reduction reduction = Reduction::mean;
};

/// -log softmax(logits)[target], computed from the shifted logits. logits [..., V], targets [...] with values 0..V-1 or
/// `ignore`. The mean is over the counted targets; with none counted it is 0 (PyTorch: NaN). `none` gives one loss for
/// each target, 0 where ignored. In nats. Throws ShapeError, or IndexError for a target out of range.
Tensor cross_entropy(const Tensor& logits, const IndexArray& targets, CrossEntropyOptions options = {});

}  // namespace xtape::inline XTAPE_FLAVOUR
