// The table of all faults.
#include "edits.hpp"

namespace xtape::faults {

const std::vector<Fault>& all_faults() {
  static const Faults all = [] {
    Faults out;
    for (const auto family : {add_rate_kinds, add_optimizer_kinds, add_data_kinds, add_label_kinds, add_weight_kinds,
                              add_flow_kinds, add_wiring_kinds, add_number_kinds})
      family(out);
    return out;
  }();
  return all;
}

void plant(Faults& out, const std::string& kind, const std::vector<std::string>& models, const Expected& expected,
           const std::function<void(Fault& fault)>& change) {
  for (const std::string& model : models) {
    Fault fault{.kind = kind, .recipe = base(model), .expected = expected};
    fault.recipe.seed = fnv1a(fault.key()) % 1'000'000;
    const Architecture architecture = fault.recipe.net.architecture;
    if (architecture == Architecture::gru || architecture == Architecture::lstm)
      fault.expected.harmful.push_back(kGatedCell);
    change(fault);
    out.push_back(std::move(fault));
  }
}

}  // namespace xtape::faults
