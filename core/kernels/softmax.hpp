// Softmax and cross-entropy over rows of a [rows, width] matrix. A row of minus infinities gives zeros, not NaN.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

void softmax(const real* x, real* y, index_t rows, index_t width);
void softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width);

void log_softmax(const real* x, real* y, index_t rows, index_t width);
void log_softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width);

/// losses[r] = log_sums[r] - x[r, targets[r]], where log_sums[r] = log(sum(exp(x[r]))); a negative target is ignored:
/// its loss is 0.
void cross_entropy(const real* x, const index_t* targets, real* losses, real* log_sums, index_t rows, index_t width);

/// dx[r] = weights[r] (softmax(x[r]) - onehot(targets[r])); exactly zero for ignored rows.
void cross_entropy_backward(const real* x, const index_t* targets, const real* log_sums, const real* weights, real* dx,
                            bool accumulate, index_t rows, index_t width);

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
