#include <xtape/core/error.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/optim/param_groups.hpp>

#include <cmath>
#include <set>

namespace xtape::inline XTAPE_DTYPE {

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
  std::string out;
  for (const ParamGroup& group : groups) {
    out += group.name + " (weight decay " + number_text(group.weight_decay) + ", rate x " +
           number_text(group.lr_scale) + "):";
    for (const Parameter& parameter : group.parameters) out += " " + parameter.name();
    out += '\n';
  }
  return out;
}

void check_groups(const std::string& optimizer, const std::vector<ParamGroup>& groups) {
  std::set<std::string> seen;
  for (const ParamGroup& group : groups) {
    const auto valid = [](double x) { return x >= 0 && std::isfinite(x); };
    if (!valid(group.weight_decay) || !valid(group.lr_scale))
      throw ValueError(optimizer, "weight decay and rate scale of group '" + group.name + "' finite and at least 0",
                       group.weight_decay, group.lr_scale);
    for (const Parameter& parameter : group.parameters) {
      if (!parameter.defined()) throw ValueError(optimizer, "group '" + group.name + "' has an undefined parameter");
      if (!seen.insert(parameter.name()).second)
        throw NameError(optimizer, "parameter " + parameter.name() + " is in two groups or twice in one group");
    }
  }
}

}  // namespace xtape::inline XTAPE_DTYPE
