// Elementwise functions of one tensor. The result has the shape of x.
#pragma once

#include <xtape/core/tape.hpp>

#include <limits>

namespace xtape::inline XTAPE_DTYPE {

constexpr real kInfinity = std::numeric_limits<real>::infinity();

Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);  ///< exp(x) - 1, accurate near 0
Tensor log(const Tensor& x);    ///< natural logarithm
Tensor log1p(const Tensor& x);  ///< log(1 + x), accurate near 0

/// The derivative 1/(2 sqrt(x)) is infinite at 0, but an upstream gradient of exactly 0 gives 0 there.
Tensor sqrt(const Tensor& x);
Tensor abs(const Tensor& x);  ///< |x|; the derivative at 0 is 0
Tensor sin(const Tensor& x);  ///< x in radians
Tensor cos(const Tensor& x);  ///< x in radians

/// min(max(x, low), high); either bound may be infinite. The derivative is 1 at the bounds and between them, 0 outside.
/// Throws ValueError unless low <= high.
Tensor clamp(const Tensor& x, real low, real high = kInfinity);

Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + exp(-x))
Tensor relu(const Tensor& x);     ///< max(x, 0); the derivative at 0 is 0

/// x for x > 0, negative_slope x elsewhere; the derivative at 0 is negative_slope.
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
