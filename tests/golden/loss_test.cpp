// Losses against golden values.
#include "tables.hpp"

namespace xtape::test {

namespace {

/// Adds a case for each reduction, named as in PyTorch.
template <class Loss>
void add_reductions(GoldenTable& table, const std::string& op, const std::string& title, const Loss& loss) {
  const std::pair<const char*, Reduction> reductions[] = {{"mean", Reduction::mean},
                                                          {"sum", Reduction::sum},
                                                          {"none", Reduction::none},
                                                          {"batchmean", Reduction::batchmean}};
  for (const auto& [name, reduction] : reductions)
    if (op != "cross_entropy" || reduction != Reduction::batchmean)  // PyTorch has no batchmean there
      table.push_back({op + "/" + name + title, [loss, r = reduction](Golden& g) { return loss(g, r); }});
}

GoldenTable cross_entropies() {
  const auto hard = [](double smoothing) {
    return [smoothing](Golden& g, Reduction reduction) {
      return cross_entropy(g.in("logits"), g.integers("targets"),
                           {.reduction = reduction, .label_smoothing = smoothing});
    };
  };
  const auto soft = [](double smoothing) {
    return [smoothing](Golden& g, Reduction reduction) {
      return cross_entropy(g.in("logits"), g.in("targets"), {.reduction = reduction, .label_smoothing = smoothing});
    };
  };
  const auto plain = [](Golden& g) { return cross_entropy(g.in("logits"), g.integers("targets")); };
  GoldenTable table = {{"cross_entropy/large", plain}, {"cross_entropy/wide", plain}};
  add_reductions(table, "cross_entropy", "", hard(0));
  add_reductions(table, "cross_entropy", ", some ignored", hard(0));
  add_reductions(table, "cross_entropy", ", smoothed", hard(0.125));
  add_reductions(table, "cross_entropy", ", soft targets", soft(0));
  add_reductions(table, "cross_entropy", ", smoothed soft targets", soft(0.125));
  return table;
}

GoldenTable pairs() {
  const auto binary = [](Golden& g, Reduction r) {
    return binary_cross_entropy_with_logits(g.in("input"), g.in("target"), {.reduction = r});
  };
  GoldenTable table = {
      {"binary_cross_entropy_with_logits/large", [binary](Golden& g) { return binary(g, Reduction::none); }}};
  add_reductions(table, "mse_loss", "",
                 [](Golden& g, Reduction r) { return mse_loss(g.in("input"), g.in("target"), r); });
  add_reductions(table, "l1_loss", "",
                 [](Golden& g, Reduction r) { return l1_loss(g.in("input"), g.in("target"), r); });
  add_reductions(table, "huber_loss", "", [](Golden& g, Reduction r) {
    return huber_loss(g.in("input"), g.in("target"), {.delta = real(0.75), .reduction = r});
  });
  add_reductions(table, "binary_cross_entropy_with_logits", "", binary);
  add_reductions(table, "binary_cross_entropy_with_logits", ", weighted", [](Golden& g, Reduction r) {
    return binary_cross_entropy_with_logits(
        g.in("input"), g.in("target"),
        {.weight = g.fixed("weight"), .pos_weight = g.fixed("pos_weight"), .reduction = r});
  });
  add_reductions(table, "kl_div", "",
                 [](Golden& g, Reduction r) { return kl_div(g.in("input"), g.in("target"), {.reduction = r}); });
  add_reductions(table, "kl_div", ", log target", [](Golden& g, Reduction r) {
    return kl_div(g.in("input"), g.in("target"), {.log_target = true, .reduction = r});
  });
  return table;
}

}  // namespace

GoldenTable loss_golden_cases() { return joined({cross_entropies(), pairs()}); }

TEST_CASE("losses agree with golden values") { check_golden(loss_golden_cases()); }

}  // namespace xtape::test
