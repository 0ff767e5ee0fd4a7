// Batch normalization. Letters: B batch, T positions, C channels.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct BatchNormOutput {
  Tensor y;
  Array mean;      ///< [C], of the batch
  Array variance;  ///< [C], of the batch, unbiased: for running statistics
};

/// (x - mean) / sqrt(variance + eps) * weight + bias, with the mean and the biased variance of each channel over all
/// other axes (Ioffe, Szegedy 2015). x [B, C] or [B, T, C]; weight and bias [C] or empty. Each block of rows gets its
/// statistics in two passes, and the blocks are combined in double, so a large mean costs no digits. A channel of equal
/// values with eps = 0 is normalized to 0 and passes no gradient. Throws ShapeError, also for no channels, or
/// ValueError for a negative eps and for fewer than two values a channel.
BatchNormOutput batch_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

/// Like batch_norm, with given mean and variance [C] that no gradient flows to. Throws ShapeError, or ValueError for a
/// negative variance or eps.
Tensor batch_norm_eval(const Tensor& x, const Array& mean, const Array& variance, const Tensor& weight = {},
                       const Tensor& bias = {}, double eps = 1e-5);

}  // namespace xtape::inline XTAPE_DTYPE
