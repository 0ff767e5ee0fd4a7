// Layer normalization of the rows of a [rows, width] matrix; RMS normalization if `mean` is null.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y = (x - mean) / sqrt(variance + eps) * weight + bias with the biased variance of each row. mean and inverse_std =
/// 1/sqrt(variance + eps), [rows], are outputs that the backward function needs. A row of equal elements with eps = 0
/// is normalized to 0 and passes no gradient.
void layer_norm(const NormInput& in, real* y, double* mean, real* inverse_std);

/// With x_hat = (x - mean) inverse_std and g = weight dy: dx = inverse_std (g - mean(g) - x_hat mean(g x_hat)), without
/// the middle term if mean is null; dweight = sum over rows of dy x_hat; dbias = sum over rows of dy.
void layer_norm_backward(const NormRows& in, Output dx, Output dweight, Output dbias);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
