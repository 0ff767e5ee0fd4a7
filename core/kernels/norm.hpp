// Layer normalisation over rows of a [rows, width] matrix; with a null `mean` nothing is subtracted and it is
// root-mean-square normalisation.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

/// y = (x - mean) / sqrt(variance + eps) * gain + bias with the biased variance of each row. gain and bias [width] may
/// be null. mean and inverse = 1/sqrt(variance + eps), [rows], are what the backward needs.
void layer_norm(const real* x, const real* gain, const real* bias, real eps, real* y, double* mean, real* inverse,
                index_t rows, index_t width);

void layer_norm_backward(const real* x, const real* gain, const double* mean, const real* inverse, const real* dy,
                         real* dx, bool accumulate, index_t rows, index_t width);

/// dgain = sum over rows of dy (x - mean) inverse, or added to dgain when `accumulate`.
void layer_norm_gain_backward(const real* x, const double* mean, const real* inverse, const real* dy, real* dgain,
                              bool accumulate, index_t rows, index_t width);

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
