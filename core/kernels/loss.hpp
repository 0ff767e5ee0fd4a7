// Losses that compare two arrays element by element.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

enum class Loss {
  squared,               ///< (x - t)^2
  absolute,              ///< |x - t|
  huber,                 ///< squared error / 2 up to a distance p, linear beyond
  binary_cross_entropy,  ///< of target t and the probability sigmoid(x)
  divergence,            ///< t (log t - x)
  divergence_of_logs,    ///< exp(t) (t - x)
};

/// loss[i] = f(x[i], t[i]) with the parameter p.
void pointwise_loss(Loss f, real p, const real* x, const real* t, real* loss, index_t n);

enum class Side { input, target };

/// out[i] = weights[i * step] times the derivative by x[i] or by t[i], or added to out when `accumulate`; step 0 or 1.
void pointwise_loss_backward(Loss f, real p, Side side, const real* x, const real* t, const real* weights, index_t step,
                             real* out, bool accumulate, index_t n);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
