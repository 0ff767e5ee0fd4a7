// Padding of batches of sequences.
#pragma once

#include <xtape/core/tensor.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// x [B, T, C] with 0 at the padded positions, `padding` [B, T] (true: padding), and zero gradients there; x itself if
/// the mask is empty. A model starts with it, because a padded row of NaN would reach the weights' gradients as 0 *
/// NaN. Throws ShapeError in the name of `op`.
Tensor without_padding(const char* op, const Tensor& x, const Mask& padding);

}  // namespace xtape::inline XTAPE_DTYPE
