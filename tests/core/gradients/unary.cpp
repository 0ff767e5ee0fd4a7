#include "cases.hpp"

namespace xtape::test {

GradCases unary_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({3, 5}, 11, -3, 3), wide = sample({2, 3}, 107, -3, 3);
  const Array a = sample({2, 3}, 1), positive = sample({2, 3}, 7, 0.5, 2), angles = sample({2, 3}, 8, -7, 7);
  return {
      {"exp", "", {a}, [](Args t) { return exp(t[0]); }},
      {"log", "", {positive}, [](Args t) { return log(t[0]); }},
      {"sqrt", "", {positive}, [](Args t) { return sqrt(t[0]); }},
      {"expm1", "", {a}, [](Args t) { return expm1(t[0]); }},
      {"log1p", "", {positive}, [](Args t) { return log1p(t[0]); }},
      {"abs", "away from 0", {a}, [](Args t) { return abs(t[0]); }},
      {"sin", "", {angles}, [](Args t) { return sin(t[0]); }},
      {"cos", "", {angles}, [](Args t) { return cos(t[0]); }},
      {"clamp", "both sides", {wide}, [](Args t) { return clamp(t[0], -1, real(1.5)); }},
      {"clamp", "from below", {wide}, [](Args t) { return clamp(t[0], real(0.5)); }},
      {"tanh", "", {x}, [](Args t) { return tanh(t[0]); }},
      {"sigmoid", "", {x}, [](Args t) { return sigmoid(t[0]); }},
      {"relu", "away from 0", {x}, [](Args t) { return relu(t[0]); }},
      {"leaky_relu", "default negative slope", {x}, [](Args t) { return leaky_relu(t[0]); }},
      {"leaky_relu", "negative slope 0.3", {x}, [](Args t) { return leaky_relu(t[0], real(0.3)); }},
      {"elu", "", {x}, [](Args t) { return elu(t[0]); }},
      {"elu", "alpha 1.7", {x}, [](Args t) { return elu(t[0], real(1.7)); }},
      {"silu", "", {x}, [](Args t) { return silu(t[0]); }},
      {"softplus", "", {x}, [](Args t) { return softplus(t[0]); }},
      {"softplus", "on both sides of a threshold", {x}, [](Args t) { return softplus(t[0], 3, 2); }},
      {"softsign", "", {x}, [](Args t) { return softsign(t[0]); }},
      {"gelu", "exact", {x}, [](Args t) { return gelu(t[0]); }},
      {"gelu_tanh", "tanh form", {x}, [](Args t) { return gelu(t[0], Gelu::tanh); }},
  };
}

}  // namespace xtape::test
