// Layer normalisation over rows of a [rows, width] matrix; with a null `mean` nothing is subtracted and it is
// root-mean-square normalisation.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y = (x - mean) / sqrt(variance + eps) * gain + bias with the biased variance of each row. gain and bias [width] may
/// be null. mean and inverse = 1/sqrt(variance + eps), [rows], are what the backward needs.
void layer_norm(const real* x, const real* weight, const real* bias, real eps, real* y, double* mean, real* inverse,
                index_t rows, index_t width);

/// With n = (x - mean) inverse and g = gain dy: dx = inverse (g - mean(g) - n mean(g n)), without a mean the middle
/// term is absent; dweight = sum over rows of dy n; dbias = sum over rows of dy. Any may be unwanted.
void layer_norm_backward(const NormRows& in, Output dx, Output dweight, Output dbias);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
