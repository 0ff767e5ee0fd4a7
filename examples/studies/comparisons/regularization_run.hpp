// One training run of the comparison of regularization, and its measurements.
#pragma once

#include "studies/common/sweep.hpp"

namespace xtape::examples {

constexpr std::size_t kRootBins = 8;  ///< groups of equally many weights, ordered by sqrt(v)

/// "sgd", "sgd-l2", "sgdw", "adam", "adam-l2", "adamw"; those without a suffix have no decay.
const std::vector<std::string>& scheme_names();

/// Trains as the arguments (as on a command line) describe, writes the run folder with update_split.csv in it, and
/// returns
///   train_loss, validation_loss, test_loss (after the last step), best_validation_loss (during training)
///   weight_norm/NAME, for each matrix NAME: its norm after training
///   gradient_part/NAME, decay_part/NAME: norms of the two parts of an update, means over the measured steps
///   root_v, decay_rate (Adam only, kRootBins numbers each): median sqrt(v) of the weights of a bin, and median
///     fraction of a weight that decay took away in the last measured step, per unit of learning rate
Results train_regularized(const std::vector<std::string>& arguments);

}  // namespace xtape::examples
