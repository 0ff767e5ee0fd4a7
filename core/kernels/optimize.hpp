// Optimizer updates, one pass over each parameter.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

/// One Adam step (Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019, algorithm 2):
///   g += l2 * value;                      m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2
///   value *= keep;                        value -= step * m / (sqrt(v) * v_scale + epsilon)
/// where step = lr / (1 - beta1^t), v_scale = 1 / sqrt(1 - beta2^t) and keep = 1 - lr * decay.
struct AdamNumbers {
  double beta1, beta2, epsilon, step, v_scale, keep, l2;
};

/// `first` and `second` are the moments m and v.
void adam(const AdamNumbers& numbers, const real* gradient, real* value, real* first, real* second, index_t n);

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
