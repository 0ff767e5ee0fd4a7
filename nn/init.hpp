// Initial values. Fan-in and fan-out of a weight [out, in, ...] are in and out times the rest.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_FLAVOUR::init {

Init zeros();
Init ones();
Init constant(double value);
Init uniform(double low, double high);
Init normal(double mean, double deviation);

/// Glorot and Bengio 2010: uniform within gain sqrt(6/(fan_in + fan_out)), or normal with the same variance.
Init xavier_uniform(double gain = 1);
Init xavier_normal(double gain = 1);

/// He et al. 2015: uniform within gain sqrt(3/fan_in), or normal with deviation gain/sqrt(fan_in). The default gain,
/// sqrt 2, is for relu.
Init he_uniform(double gain = 1.4142135623730951);
Init he_normal(double gain = 1.4142135623730951);

/// Uniform within 1/sqrt(fan_in): PyTorch's default for linear layers (weight, and bias by the weight's fan).
Init by_fan_in(index_t fan_in);

/// GPT-2: normal with deviation 0.02; projections into the residual stream 0.02/sqrt(2 layers).
Init gpt2();
Init gpt2_residual(index_t layers);

}  // namespace xtape::inline XTAPE_FLAVOUR::init
