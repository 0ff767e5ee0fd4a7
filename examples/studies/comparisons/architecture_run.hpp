// One training run of the comparison of architectures, and its measurements.
#pragma once

#include "lag_tasks.hpp"
#include "sequence_network.hpp"

#include "studies/common/sweep.hpp"

namespace xtape::examples {

constexpr index_t kLagParts = 4;  ///< groups of lags for which the accuracy is reported

/// Trains the network that the arguments (as on a command line) describe, writes its run folder, and returns
///   validation_loss, accuracy, accuracy_by_lag (kLagParts numbers; not of text), know_nothing
///   clipped (share of steps whose norm was above the limit), largest_norm (of the gradient, before clipping)
///   input_gradient_first, input_gradient_last (by lag: |dL/dx_t| of the last step's loss, before and after training)
///   hidden_gradient_first, hidden_gradient_last (by lag: |dL/dh_t|; rnn only)
///   hidden_bound_first, hidden_bound_last (their upper bound, |W|^lag times the norm at lag 0, as |tanh'| <= 1; rnn
///     only)
///   spectral_norm_first, spectral_norm_last (|W|; rnn only)
Results train_sequence_network(const std::vector<std::string>& arguments);

}  // namespace xtape::examples
