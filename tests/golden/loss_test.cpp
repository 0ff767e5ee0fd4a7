// Losses against golden values.
#include "tables.hpp"

namespace xtape::test {

namespace {

const std::vector<std::pair<std::string, Reduction>> kReductions = {
    {"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}};

GoldenTable cross_entropies() {
  const auto plain = [](Golden& g) { return cross_entropy(g.in("logits"), g.integers("targets")); };
  GoldenTable table = {{"cross_entropy/large", plain}, {"cross_entropy/wide", plain}};
  for (const auto& [name, reduction] : kReductions) {
    const auto reduced = [reduction = reduction](Golden& g) {
      return cross_entropy(g.in("logits"), g.integers("targets"), {.reduction = reduction});
    };
    table.push_back({"cross_entropy/" + name, reduced});
    table.push_back({"cross_entropy/" + name + ", some ignored", reduced});
  }
  return table;
}

}  // namespace

GoldenTable loss_golden_cases() { return cross_entropies(); }

TEST_CASE("losses agree with golden values") { check_golden(loss_golden_cases()); }

}  // namespace xtape::test
