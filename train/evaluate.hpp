// Measuring a model on data that it is not trained on.
#pragma once

#include <xtape/core/error.hpp>
#include <xtape/core/ops/loss.hpp>
#include <xtape/core/param_store.hpp>
#include <xtape/data/text.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Keeps a store in eval mode while it lives, and puts its mode back.
class EvalMode {
 public:
  explicit EvalMode(ParamStore& store) : store_(store), training_(store.training()) { store_.eval(); }
  ~EvalMode() { training_ ? store_.train() : store_.eval(); }
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  ParamStore& store_;
  bool training_;
};

/// Cross-entropy of a target in nats, averaged over all targets of all batches, with the store in eval mode; its mode
/// is put back. `model` maps inputs [B, T] to logits [B, T, V]. To be called where no tape lives, so that nothing is
/// recorded. Throws ValueError if there are no batches.
template <class Model>
double mean_loss(ParamStore& store, const Model& model, const std::vector<Batch>& batches) {
  if (batches.empty()) throw ValueError("mean_loss", "there are no batches");
  const EvalMode eval(store);
  double sum = 0, count = 0;
  for (const Batch& batch : batches) {
    const auto targets = static_cast<double>(batch.targets.size());
    sum += targets * static_cast<double>(cross_entropy(model(batch.inputs), batch.targets).item());
    count += targets;
  }
  return sum / count;
}

}  // namespace xtape::inline XTAPE_DTYPE
