#include <xtape/core/error.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/optim/param_groups.hpp>

#include <cmath>
#include <set>
#include <sstream>

namespace xtape::inline XTAPE_FLAVOUR {

std::vector<ParamGroup> all_parameters(const ParamStore& store, double weight_decay) {
  return {{.name = "all", .parameters = store.parameters(), .weight_decay = weight_decay}};
}

std::vector<ParamGroup> decay_groups(const ParamStore& store, double weight_decay) {
  ParamGroup decay{.name = "decay", .parameters = {}, .weight_decay = weight_decay};
  ParamGroup rest{.name = "no decay", .parameters = {}};
  for (const Parameter& parameter : store.parameters())
    (parameter.decays() ? decay : rest).parameters.push_back(parameter);
  return {decay, rest};
}

std::string describe(const std::vector<ParamGroup>& groups) {
  std::ostringstream out;
  for (const ParamGroup& group : groups) {
    out << group.name << " (weight decay " << group.weight_decay << ", rate x " << group.lr_scale << "):";
    for (const Parameter& parameter : group.parameters) out << ' ' << parameter.name();
    out << '\n';
  }
  return out.str();
}

void check_groups(const char* optimizer, const std::vector<ParamGroup>& groups) {
  std::set<std::string> seen;
  for (const ParamGroup& group : groups) {
    const auto positive = [](double x) { return x >= 0 && std::isfinite(x); };
    if (!positive(group.weight_decay) || !positive(group.lr_scale))
      throw ValueError(optimizer, "group '" + group.name + "' has a negative or infinite decay or rate scale");
    for (const Parameter& parameter : group.parameters)
      if (!seen.insert(parameter.name()).second)
        throw NameError(optimizer, "parameter " + parameter.name() + " stands in two groups or twice in one");
  }
}

bool gradients_finite(const std::vector<ParamGroup>& groups) {
  for (const ParamGroup& group : groups)
    for (const Parameter& parameter : group.parameters)
      if (parameter.trainable() && parameter.has_grad() &&
          !std::isfinite(kernels::sum_of_squares(parameter.grad().data(), parameter.size())))
        return false;
  return true;
}

}  // namespace xtape::inline XTAPE_FLAVOUR
