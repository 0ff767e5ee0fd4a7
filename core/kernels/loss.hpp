// Losses that compare two arrays element by element, and cross-entropy over the rows of a [rows, width] matrix. In
// cross-entropy a row of minus infinities has the loss infinity and zero gradient.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// loss[i] = f(x[i], t[i]) with the parameters p.
void pointwise_loss(Loss f, LossParameters p, const real* x, const real* t, real* loss, index_t n);

/// out[i] = weights[i * step] times the derivative by the operand `side`, or added to out when `accumulate`; step 0 or
/// 1. A weight of 0 gives 0.
void pointwise_loss_backward(Loss f, LossParameters p, Side side, const real* x, const real* t, const real* weights,
                             index_t step, real* out, bool accumulate, index_t n);

/// loss[i] = f(x[i], t[i]) / divisor, slowly: also where f leaves the range. On entry `loss` holds f.
void divide_pointwise_loss(Loss f, LossParameters p, const real* x, const real* t, real* loss, index_t n,
                           double divisor);

/// log_sums[r] is that of x[r], and losses[r] = sum over i of q[i] (log(sum(exp(x[r]))) - x[r, i]) with the target
/// distribution q = (1 - smoothing) onehot(targets[r]) + smoothing / width, over the divisor. A negative target is
/// ignored: its loss is 0.
void cross_entropy(const real* x, const index_t* targets, double smoothing, double divisor, real* losses,
                   LogSum* log_sums, index_t rows, index_t width);

/// dx[r] = weights[r * step] (softmax(x[r]) - q), step 0 or 1; exactly zero for ignored rows.
void cross_entropy_backward(const real* x, const index_t* targets, double smoothing, const LogSum* log_sums,
                            const real* weights, index_t step, real* dx, bool accumulate, index_t rows, index_t width);

/// Like cross_entropy with q = (1 - smoothing) t[r] + smoothing / width, t [rows, width]; totals[r] = sum of q.
void soft_cross_entropy(const real* x, const real* t, double smoothing, double divisor, real* losses, LogSum* log_sums,
                        real* totals, index_t rows, index_t width);

/// dx[r] = weights[r * step] (totals[r] softmax(x[r]) - q), step 0 or 1.
void soft_cross_entropy_backward(const real* x, const real* t, double smoothing, const LogSum* log_sums,
                                 const real* totals, const real* weights, index_t step, real* dx, bool accumulate,
                                 index_t rows, index_t width);

/// dt[r] = weights[r * step] (1 - smoothing) (log(sum(exp(x[r]))) - x[r]), step 0 or 1.
void soft_cross_entropy_target_backward(const real* x, double smoothing, const LogSum* log_sums, const real* weights,
                                        index_t step, real* dt, bool accumulate, index_t rows, index_t width);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
