#include <xtape/core/gradcheck.hpp>
#include <xtape/core/ops/activation.hpp>
#include <xtape/core/ops/elementwise.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

// Values and slopes stand side by side in core/kernels/levels/elementwise_level.cpp.

Tensor tanh(const Tensor& x) { return unary_op("tanh", kernels::Unary::tanh, x, false); }
Tensor sigmoid(const Tensor& x) { return unary_op("sigmoid", kernels::Unary::sigmoid, x, false); }
Tensor relu(const Tensor& x) { return unary_op("relu", kernels::Unary::relu, x, true); }

Tensor gelu(const Tensor& x, Gelu form) {
  return form == Gelu::exact ? unary_op_with_slope("gelu", kernels::Unary::gelu, x)
                             : unary_op_with_slope("gelu_tanh", kernels::Unary::gelu_tanh, x);
}

GradCases activation_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({3, 5}, 11, -3, 3);
  return {
      {"tanh", "", {x}, [](Args a) { return tanh(a[0]); }},
      {"sigmoid", "", {x}, [](Args a) { return sigmoid(a[0]); }},
      {"relu", "away from 0", {x}, [](Args a) { return relu(a[0]); }},
      {"gelu", "exact", {x}, [](Args a) { return gelu(a[0]); }},
      {"gelu_tanh", "tanh form", {x}, [](Args a) { return gelu(a[0], Gelu::tanh); }},
  };
}

}  // namespace xtape::inline XTAPE_FLAVOUR
