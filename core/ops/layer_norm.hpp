// Layer normalization and root-mean-square normalization. Letter: C size of the last axis.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// (x - mean) / sqrt(variance + eps) * weight + bias over the last axis, with the biased variance (Ba, Kiros, Hinton
/// 2016). x [..., C]; weight and bias [C] or empty. The mean is subtracted before squaring, so a large mean costs no
/// digits. Throws ShapeError, or ValueError for a negative eps.
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

/// x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang, Sennrich 2019). x [..., C]; weight [C] or empty.
/// Throws ShapeError, or ValueError for a negative eps.
Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-5);

}  // namespace xtape::inline XTAPE_DTYPE
