// Parameter groups: which parameters an optimizer updates, and with which weight decay and learning rate.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct ParamGroup {
  std::string name;
  std::vector<Parameter> parameters;
  double weight_decay = 0;
  double lr_scale = 1;  ///< factor of the learning rate
};

/// One group "all" with all parameters of the store.
std::vector<ParamGroup> all_parameters(const ParamStore& store, double weight_decay = 0);

/// Two groups: "decay" with the parameters that weight decay applies to (by default those with two or more axes), and
/// "no decay" with the others (biases, weights of norm layers).
std::vector<ParamGroup> decay_groups(const ParamStore& store, double weight_decay);

/// One line per group: its name, weight decay, factor of the learning rate, and the names of its parameters.
std::string describe(const std::vector<ParamGroup>& groups);

/// Throws ValueError for a weight decay or lr_scale that is negative or not finite and for an undefined parameter,
/// NameError if a parameter or a parameter name occurs twice.
void check_groups(const std::string& optimizer, const std::vector<ParamGroup>& groups);

}  // namespace xtape::inline XTAPE_DTYPE
