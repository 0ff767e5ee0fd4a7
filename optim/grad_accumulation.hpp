// Gradient accumulation: several backward passes over small batches, then one step that equals the step over one large
// batch. Dividing by the number of targets makes this exact even if the small batches have different numbers of
// targets.
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

/// Number of targets that are not `ignore`: the divisor of cross_entropy with Reduction::mean.
index_t count_targets(const IndexArray& targets, index_t ignore = kIgnore);

/// Divides every gradient by `count`, which turns the gradients of a summed loss into those of the mean loss. With a
/// count of 0 the gradients stay as they are: a sum over no targets has zero gradients. A parameter that is listed
/// twice is divided once. Throws ValueError for a negative count and for an empty handle, GradientError after a failed
/// backward pass.
void divide_grads(const std::vector<Parameter>& parameters, index_t count);
void divide_grads(const ParamStore& store, index_t count);

}  // namespace xtape::inline XTAPE_DTYPE
