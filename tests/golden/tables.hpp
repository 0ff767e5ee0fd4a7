// The tables of golden cases, one per family.
#pragma once

#include "golden.hpp"

namespace xtape::test {

GoldenTable elementwise_golden_cases();
GoldenTable linear_algebra_golden_cases();
GoldenTable shape_golden_cases();
GoldenTable reduce_golden_cases();
GoldenTable loss_golden_cases();
GoldenTable norm_golden_cases();
GoldenTable attention_golden_cases();
GoldenTable attention_kinds_golden_cases();
GoldenTable recurrent_golden_cases();
GoldenTable recurrent_layer_golden_cases();
GoldenTable layer_golden_cases();

/// Largest errors of checks that are not one call: trajectories, schedules, loss curves.
using GoldenErrors = std::vector<std::pair<std::string, double>>;
GoldenErrors optimizer_golden_errors();
GoldenErrors schedule_golden_errors();
GoldenErrors training_golden_errors();

inline GoldenTable joined(const std::vector<GoldenTable>& tables) {
  GoldenTable out;
  for (const GoldenTable& table : tables) out.insert(out.end(), table.begin(), table.end());
  return out;
}

inline GoldenTable all_golden_cases() {
  return joined({elementwise_golden_cases(), linear_algebra_golden_cases(), shape_golden_cases(), reduce_golden_cases(),
                 loss_golden_cases(), norm_golden_cases(), attention_golden_cases(), attention_kinds_golden_cases(),
                 recurrent_golden_cases(), recurrent_layer_golden_cases(), layer_golden_cases()});
}

}  // namespace xtape::test
