// Nonlinear functions, elementwise.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + exp(-x))
Tensor relu(const Tensor& x);     ///< max(x, 0); the gradient at 0 is 0

/// x for x > 0, negative_slope x elsewhere (at 0 too).
Tensor leaky_relu(const Tensor& x, real negative_slope = real(0.01));

/// x for x > 0, alpha (exp(x) - 1) elsewhere (Clevert, Unterthiner, Hochreiter 2016).
Tensor elu(const Tensor& x, real alpha = 1);

Tensor silu(const Tensor& x);  ///< x sigmoid(x), also known as swish

/// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold. Throws ValueError unless beta > 0.
Tensor softplus(const Tensor& x, real beta = 1, real threshold = 20);

Tensor softsign(const Tensor& x);  ///< x / (1 + |x|)

enum class Gelu {
  exact,  ///< x Phi(x), Phi the normal distribution function
  tanh,   ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
};

/// Gaussian error linear unit (Hendrycks and Gimpel 2016).
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact);

}  // namespace xtape::inline XTAPE_DTYPE
