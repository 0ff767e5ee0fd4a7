// Initializers of parameters. For a weight [out, in, ...], fan-in is in times the product of the remaining sizes, and
// fan-out is out times that product. Initializers that need fans throw ShapeError for a tensor with fewer than two
// axes. All functions throw ValueError for an argument outside its domain.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE::init {

Init zeros();
Init ones();
Init constant(double value);
Init uniform(double low, double high);    ///< values in [low, high); low <= high
Init normal(double mean, double stddev);  ///< stddev >= 0

enum class Activation { linear, sigmoid, tanh, relu, leaky_relu };

/// The factor that keeps the variance of activations through layers with this nonlinearity, as PyTorch's
/// calculate_gain: 1 for linear and sigmoid, 5/3 for tanh, sqrt(2) for relu, sqrt(2/(1 + negative_slope^2)) for
/// leaky_relu with this factor for negative inputs.
double gain(Activation function, double negative_slope = 0.01);

/// Glorot and Bengio 2010: uniform in [-a, a) with a = gain sqrt(6/(fan_in + fan_out)), or normal with the same
/// variance.
Init xavier_uniform(double gain = 1);
Init xavier_normal(double gain = 1);

enum class FanMode { in, out };  ///< fan-in keeps the variance of activations, fan-out that of gradients

/// He et al. 2015: uniform in [-a, a) with a = gain sqrt(3/fan), or normal with standard deviation gain/sqrt(fan). The
/// default gain, sqrt(2), is for relu. With gain 1 and fan-in these are LeCun's initializers.
Init he_uniform(double gain = 1.4142135623730951, FanMode fan = FanMode::in);
Init he_normal(double gain = 1.4142135623730951, FanMode fan = FanMode::in);

/// Saxe et al. 2014: `gain` times a random matrix with orthonormal rows, or orthonormal columns if it has fewer columns
/// than rows; uniformly distributed over such matrices. Axes after the first count as one. A square orthogonal matrix
/// keeps the length of the vectors that it multiplies.
Init orthogonal(double gain = 1);

/// `gain` on the diagonal of a matrix, zero elsewhere. Throws ShapeError for a tensor that is not a matrix.
Init identity(double gain = 1);

/// Uniform in [-a, a) with a = 1/sqrt(fan_in): PyTorch's default for linear layers, for weight and bias alike.
Init uniform_fan_in(index_t fan_in);

/// GPT-2: normal with standard deviation 0.02; for projections into the residual stream 0.02/sqrt(2 layers).
Init gpt2();
Init gpt2_residual(index_t layers);

}  // namespace xtape::inline XTAPE_DTYPE::init
