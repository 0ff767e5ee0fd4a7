// Initial values. FanMode-in and fan-out of a weight [out, in, ...] are in and out times the rest; weights of fewer
// than two axes have none, and what needs them throws ShapeError. Numbers outside their domain throw ValueError.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE::init {

Init zeros();
Init ones();
Init constant(double value);
Init uniform(double low, double high);    ///< in [low, high); low <= high
Init normal(double mean, double stddev);  ///< deviation >= 0

enum class Activation { linear, sigmoid, tanh, relu, leaky_relu };

/// The gain that keeps the size of activations through layers with this function between them, as PyTorch's
/// calculate_gain: 1, 1, 5/3, sqrt 2, sqrt(2/(1 + slope^2)). `slope` is leaky_relu's, for negative inputs.
double gain(Activation function, double slope = 0.01);

/// Glorot and Bengio 2010: uniform within gain sqrt(6/(fan_in + fan_out)), or normal with the same variance.
Init xavier_uniform(double gain = 1);
Init xavier_normal(double gain = 1);

enum class FanMode { in, out };  ///< in keeps the size of activations, out that of gradients

/// He et al. 2015: uniform within gain sqrt(3/fan), or normal with deviation gain/sqrt(fan). The default gain, sqrt 2,
/// is for relu; with gain 1 and fan-in these are LeCun's.
Init he_uniform(double gain = 1.4142135623730951, FanMode fan = FanMode::in);
Init he_normal(double gain = 1.4142135623730951, FanMode fan = FanMode::in);

/// Saxe et al. 2014: a random matrix with orthonormal rows, or columns if these are fewer, times the gain; every such
/// matrix is as likely as any other. Axes after the first count as one. Square, it keeps the length of what passes.
Init orthogonal(double gain = 1);

/// `gain` on the diagonal of a matrix, zero elsewhere; throws ShapeError for another number of axes.
Init identity(double gain = 1);

/// Uniform within 1/sqrt(fan_in): PyTorch's default for linear layers (weight, and bias by the weight's fan).
Init uniform_fan_in(index_t fan_in);

/// GPT-2: normal with deviation 0.02; projections into the residual stream 0.02/sqrt(2 layers).
Init gpt2();
Init gpt2_residual(index_t layers);

}  // namespace xtape::inline XTAPE_DTYPE::init
