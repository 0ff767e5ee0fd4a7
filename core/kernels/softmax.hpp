// Softmax and cross-entropy over rows of a [rows, width] matrix. A row of minus infinities gives no NaN: its softmax is
// 0, its log-softmax minus infinity, its loss infinity, and its gradients are 0.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

void softmax(const real* x, real* y, index_t rows, index_t width);
void softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width);

void log_softmax(const real* x, real* y, index_t rows, index_t width);
void log_softmax_backward(const real* y, const real* dy, real* dx, bool accumulate, index_t rows, index_t width);

/// y[r] = log(sum(exp(x[r]))), and dx[r] = dy[r] exp(x[r] - y[r]).
void log_sum_exp(const real* x, real* y, index_t rows, index_t width);
void log_sum_exp_backward(const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t rows,
                          index_t width);

/// losses[r] = sum over i of q[i] (log_sums[r] - x[r, i]) with log_sums[r] = log(sum(exp(x[r]))) and the target
/// distribution q = (1 - smoothing) onehot(targets[r]) + smoothing / width. A negative target is ignored: its loss is
/// 0.
void cross_entropy(const real* x, const index_t* targets, double smoothing, real* losses, double* log_sums,
                   index_t rows, index_t width);

/// dx[r] = weights[r * step] (softmax(x[r]) - q), step 0 or 1; exactly zero for ignored rows.
void cross_entropy_backward(const real* x, const index_t* targets, double smoothing, const double* log_sums,
                            const real* weights, index_t step, real* dx, bool accumulate, index_t rows, index_t width);

/// The same with q = (1 - smoothing) t[r] + smoothing / width, t [rows, width]. totals[r] = sum of q.
void soft_cross_entropy(const real* x, const real* t, double smoothing, real* losses, double* log_sums, real* totals,
                        index_t rows, index_t width);

/// dx[r] = weights[r * step] (totals[r] softmax(x[r]) - q).
void soft_cross_entropy_backward(const real* x, const real* t, double smoothing, const double* log_sums,
                                 const real* totals, const real* weights, index_t step, real* dx, bool accumulate,
                                 index_t rows, index_t width);

/// dt[r] = weights[r * step] (1 - smoothing) (log_sums[r] - x[r]).
void soft_cross_entropy_target_backward(const real* x, double smoothing, const double* log_sums, const real* weights,
                                        index_t step, real* dt, bool accumulate, index_t rows, index_t width);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
