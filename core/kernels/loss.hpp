// Losses that compare two arrays element by element, and cross-entropy over the rows of a [rows, width] matrix. In
// cross-entropy a row of minus infinities has the loss infinity and zero gradient.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// loss[i] = f(x[i], t[i]).
void pointwise_loss(const LossOperands& in, real* loss);

/// out[i] = weights[i] times the derivative by the operand `side`. A weight of 0 gives 0.
void pointwise_loss_backward(const LossOperands& in, Side side, LossWeights weights, Output out);

/// loss[i] = f(x[i], t[i]) / divisor, slowly: also where f leaves the range. On entry `loss` holds f.
void divide_pointwise_loss(const LossOperands& in, real* loss, double divisor);

/// Logits x [rows, width]. The target distribution of row r is q = (1 - smoothing) t[r] + smoothing / width, where t[r]
/// is onehot(targets[r]), or a row of t [rows, width].
struct CrossEntropyRows {
  const real* x;
  index_t rows, width;
  double smoothing;

  real target_part() const { return static_cast<real>(1 - smoothing); }
  real uniform_part() const { return static_cast<real>(smoothing / static_cast<double>(width)); }
};

/// log_sums[r] is that of x[r], and losses[r] = sum over i of q[i] (log(sum(exp(x[r]))) - x[r, i]) over the divisor. A
/// negative target is ignored: its loss is 0.
void cross_entropy(const CrossEntropyRows& in, const index_t* targets, double divisor, real* losses, LogSum* log_sums);

/// dx[r] = weights[r] (softmax(x[r]) - q); exactly zero for ignored rows.
void cross_entropy_backward(const CrossEntropyRows& in, const index_t* targets, const LogSum* log_sums,
                            LossWeights weights, Output dx);

/// Like cross_entropy; totals[r] = sum of q.
void soft_cross_entropy(const CrossEntropyRows& in, const real* t, double divisor, real* losses, LogSum* log_sums,
                        real* totals);

/// dx[r] = weights[r] (totals[r] softmax(x[r]) - q).
void soft_cross_entropy_backward(const CrossEntropyRows& in, const real* t, const LogSum* log_sums, const real* totals,
                                 LossWeights weights, Output dx);

/// dt[r] = weights[r] (1 - smoothing) (log(sum(exp(x[r]))) - x[r]).
void soft_cross_entropy_target_backward(const CrossEntropyRows& in, const LogSum* log_sums, LossWeights weights,
                                        Output dt);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
