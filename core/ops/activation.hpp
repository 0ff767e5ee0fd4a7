// Nonlinear functions, elementwise.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + exp(-x))
Tensor relu(const Tensor& x);     ///< max(x, 0); the gradient at 0 is 0

enum class Gelu {
  exact,  ///< x Phi(x), Phi the normal distribution function
  tanh,   ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
};

/// Gaussian error linear unit (Hendrycks and Gimpel 2016).
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact);

}  // namespace xtape::inline XTAPE_FLAVOUR
