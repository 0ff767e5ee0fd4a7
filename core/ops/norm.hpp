// Normalisation.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// (x - mean) / sqrt(variance + eps) * gain + bias over the last axis, biased variance (Ba, Kiros, Hinton 2016).
/// x [..., C]; gain and bias [C] or empty. The mean is subtracted before squaring, so large means are safe. Throws
/// ShapeError, or ValueError for a negative eps.
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

/// x / sqrt(mean(x^2) + eps) * gain over the last axis (Zhang, Sennrich 2019). x [..., C]; gain [C] or empty. Throws
/// ShapeError, or ValueError for a negative eps.
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-5);

struct BatchNormOutput {
  Tensor y;
  Array mean;      ///< [C] of the batch
  Array variance;  ///< [C] of the batch, unbiased: what running statistics are made of
};

/// (x - mean) / sqrt(variance + eps) * gain + bias with the mean and the biased variance of each channel over all other
/// axes (Ioffe, Szegedy 2015). x [B, C] or [B, T, C]; gain and bias [C] or empty. Statistics are taken of blocks
/// of rows in two passes each and put together in double, so a large mean is safe. Throws ShapeError, or ValueError for
/// a negative eps and for fewer than two values a channel, whose variance is not defined.
BatchNormOutput batch_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

/// The same with given statistics [C], which are constants. Throws ShapeError, or ValueError for a negative variance or
/// eps.
Tensor batch_norm_eval(const Tensor& x, const Array& mean, const Array& variance, const Tensor& weight = {},
                       const Tensor& bias = {}, double eps = 1e-5);

}  // namespace xtape::inline XTAPE_DTYPE
