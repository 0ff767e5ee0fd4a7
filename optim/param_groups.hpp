// Which parameters an optimizer steps, and how each is treated.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct ParamGroup {
  std::string name;
  std::vector<Parameter> parameters;
  double weight_decay = 0;
  double lr_scale = 1;  ///< multiplies the learning rate of each step
};

/// All parameters of the store in one group.
std::vector<ParamGroup> all_parameters(const ParamStore& store, double weight_decay = 0);

/// Two groups: "decay" with the parameters that decay (by default those with two or more axes), "no decay" with the
/// rest (biases, gains).
std::vector<ParamGroup> decay_groups(const ParamStore& store, double weight_decay);

/// One line a group: its name, decay, rate scale, and the names of its parameters.
std::string describe(const std::vector<ParamGroup>& groups);

/// Throws ValueError for a decay or rate scale that is negative or not finite and for an empty parameter handle,
/// NameError if a parameter or a name stands in two places.
void check_groups(const std::string& optimizer, const std::vector<ParamGroup>& groups);

/// True if every gradient that a step would use is finite. Throws GradientError after a failed backward pass.
bool gradients_finite(const std::vector<ParamGroup>& groups);

}  // namespace xtape::inline XTAPE_DTYPE
