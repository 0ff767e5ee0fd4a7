// Evaluation of a model.
#pragma once

#include <xtape/core/error.hpp>
#include <xtape/core/ops/loss.hpp>
#include <xtape/core/param_store.hpp>
#include <xtape/data/text.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Sets a store to eval mode and restores its mode at the end of the scope.
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

/// Mean cross-entropy in nats over all targets of all batches, with the store in eval mode. `model` maps inputs [B, T]
/// to logits [B, T, V]. Call it while no tape is active, so that nothing is recorded. Throws ValueError if there are no
/// batches.
template <class Model>
double mean_loss(ParamStore& store, const Model& model, const std::vector<Batch>& batches) {
  if (batches.empty()) throw ValueError("mean_loss", "at least 1 batch", 0);
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
