// Optimizer updates, one pass over each parameter. Each returns the sum of the squared changes of the value.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// One Adam step (Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019, algorithm 2):
///   g += l2 * value;                      m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2
///   value -= decay * value + step * m / (sqrt(v) * v_scale + epsilon)
/// where step = lr / (1 - beta1^t) and v_scale = 1 / sqrt(1 - beta2^t).
struct AdamStep {
  double beta1, beta2, epsilon, step, v_scale, l2, decay;
};

/// `first` and `second` are the moments m and v.
double adam(const AdamStep& step, const real* gradient, real* value, real* first, real* second, index_t n);

/// One step of gradient descent, with a velocity v, or without if the velocity is null:
///   g += l2 * value;                      v = keep v + fresh g
///   value -= decay * value + gradient_rate * g + velocity_rate * v
struct MomentumStep {
  double keep, fresh, gradient_rate, velocity_rate, l2, decay;
};

double momentum(const MomentumStep& step, const real* gradient, real* value, real* velocity, index_t n);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
