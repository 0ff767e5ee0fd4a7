#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/optim/grad_accumulation.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

index_t count_targets(const IndexArray& targets, index_t ignore) {
  const index_t* first = targets.data();
  return std::count_if(first, first + targets.size(), [ignore](index_t target) { return target != ignore; });
}

void divide_grads(const std::vector<Parameter>& given, index_t count) {
  if (count < 0) throw ValueError("divide_grads", "a count of at least 0", count);
  if (count == 0) return;
  const std::vector<Parameter> parameters = distinct(given);
  for (const Parameter& parameter : parameters) parameter.grad();  // throws before any gradient changes
  const real scale = static_cast<real>(1.0 / static_cast<double>(count));
  for (Parameter parameter : parameters) {
    if (!parameter.has_grad()) continue;
    real* grad = parameter.edit_grad();
    kernels::scaled(grad, scale, {grad}, parameter.numel());
  }
}

void divide_grads(const ParamStore& store, index_t count) { divide_grads(store.parameters(), count); }

}  // namespace xtape::inline XTAPE_DTYPE
