// Gradient accumulation: one step over several small batches that equals the step over one large batch, however the
// counted targets are spread over the small ones.
//
//   index_t count = 0;
//   for (const Batch& part : parts) {
//     Tape tape;
//     tape.backward(cross_entropy(model(part.inputs), part.targets, {.reduction = Reduction::sum}));
//     count += count_targets(part.targets);
//   }
//   divide_grads(store, count);     // then clip, step, zero_grad
#pragma once

#include <xtape/core/ops/loss.hpp>
#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Number of targets that are not `ignore`: what the mean of cross_entropy divides by.
index_t count_targets(const IndexArray& targets, index_t ignore = kIgnore);

/// Divides every gradient by `count`: sums over losses become their mean. With a count of 0 gradients are left: they
/// are zero, as for a mean over nothing. Throws ValueError for a negative count, GradientError after a failed backward
/// pass.
void divide_grads(const std::vector<Parameter>& parameters, index_t count);
void divide_grads(const ParamStore& store, index_t count);

}  // namespace xtape::inline XTAPE_DTYPE
