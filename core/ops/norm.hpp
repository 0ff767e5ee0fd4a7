// Normalisation.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

/// (x - mean) / sqrt(variance + eps) * gain + bias over the last axis, biased variance (Ba, Kiros, Hinton 2016).
/// x [..., C]; gain and bias [C] or empty. The mean is subtracted before squaring, so large means are safe. Throws
/// ShapeError, or ValueError for a negative eps.
Tensor layer_norm(const Tensor& x, const Tensor& gain = {}, const Tensor& bias = {}, double eps = 1e-5);

}  // namespace xtape::inline XTAPE_FLAVOUR
