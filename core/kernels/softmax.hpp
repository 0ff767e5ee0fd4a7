// Softmax over the rows of a [rows, width] matrix. A row of minus infinities gives no NaN: its softmax is 0, its
// log-softmax minus infinity, and its gradients are 0. So are those of a row whose upstream gradient is all 0.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// y[r] = exp(x[r]) / sum(exp(x[r])).
void softmax(const real* x, real* y, index_t rows, index_t width);
void softmax_backward(const real* y, const real* dy, Output dx, index_t rows, index_t width);

/// y[r] = x[r] - log(sum(exp(x[r]))).
void log_softmax(const real* x, real* y, index_t rows, index_t width);
void log_softmax_backward(const real* y, const real* dy, Output dx, index_t rows, index_t width);

/// y[r] = log(sum(exp(x[r]))), and its two parts.
void log_sum_exp(const real* x, real* y, LogSum* parts, index_t rows, index_t width);

/// dx[r] = dy[r] softmax(x[r]).
void log_sum_exp_backward(const real* x, const LogSum* parts, const real* dy, Output dx, index_t rows, index_t width);

/// Whether this is the sum of a row of minus infinities.
bool has_no_softmax(LogSum log_sum);

/// The gradient of a row is 0.
void put_zeros(Output dx, index_t width);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
