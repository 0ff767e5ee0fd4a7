#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/ops/activation.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>

namespace xtape::inline XTAPE_DTYPE {

// Values and slopes stand side by side in core/kernels/levels/unary_level.cpp.

namespace {

/// y, shown to the probe.
Tensor shown(const char* op, const Tensor& x, Tensor y) {
  if (Probe* probe = Probe::active()) probe->activation(op, x, y);
  return y;
}

}  // namespace

Tensor tanh(const Tensor& x) { return shown("tanh", x, unary_op("tanh", kernels::Unary::tanh, x, false)); }
Tensor sigmoid(const Tensor& x) { return shown("sigmoid", x, unary_op("sigmoid", kernels::Unary::sigmoid, x, false)); }
Tensor relu(const Tensor& x) { return shown("relu", x, unary_op("relu", kernels::Unary::relu, x, true)); }

Tensor silu(const Tensor& x) { return unary_op("silu", kernels::Unary::silu, x, true); }
Tensor softsign(const Tensor& x) { return unary_op("softsign", kernels::Unary::softsign, x, true); }

Tensor leaky_relu(const Tensor& x, real negative_slope) {
  return unary_op("leaky_relu", kernels::Unary::leaky_relu, x, true, {.a = negative_slope});
}

Tensor elu(const Tensor& x, real alpha) { return unary_op("elu", kernels::Unary::elu, x, true, {.a = alpha}); }

Tensor softplus(const Tensor& x, real beta, real threshold) {
  if (!(beta > 0)) throw ValueError("softplus", "beta must be positive, but is " + std::to_string(beta));
  return unary_op("softplus", kernels::Unary::softplus, x, true, {.a = beta, .b = threshold});
}

Tensor gelu(const Tensor& x, Gelu form) {
  return form == Gelu::exact ? unary_op_saving_derivative("gelu", kernels::Unary::gelu, x)
                             : unary_op_saving_derivative("gelu_tanh", kernels::Unary::gelu_tanh, x);
}

GradCases activation_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({3, 5}, 11, -3, 3);
  return {
      {"tanh", "", {x}, [](Args a) { return tanh(a[0]); }},
      {"sigmoid", "", {x}, [](Args a) { return sigmoid(a[0]); }},
      {"relu", "away from 0", {x}, [](Args a) { return relu(a[0]); }},
      {"leaky_relu", "default slope", {x}, [](Args a) { return leaky_relu(a[0]); }},
      {"leaky_relu", "slope 0.3", {x}, [](Args a) { return leaky_relu(a[0], real(0.3)); }},
      {"elu", "", {x}, [](Args a) { return elu(a[0]); }},
      {"elu", "alpha 1.7", {x}, [](Args a) { return elu(a[0], real(1.7)); }},
      {"silu", "", {x}, [](Args a) { return silu(a[0]); }},
      {"softplus", "", {x}, [](Args a) { return softplus(a[0]); }},
      {"softplus", "on both sides of a threshold", {x}, [](Args a) { return softplus(a[0], 3, 2); }},
      {"softsign", "", {x}, [](Args a) { return softsign(a[0]); }},
      {"gelu", "exact", {x}, [](Args a) { return gelu(a[0]); }},
      {"gelu_tanh", "tanh form", {x}, [](Args a) { return gelu(a[0], Gelu::tanh); }},
  };
}

}  // namespace xtape::inline XTAPE_DTYPE
