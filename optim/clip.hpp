// Gradient clipping.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

/// Scales all gradients by max_norm / norm if their joint 2-norm exceeds max_norm (Pascanu, Mikolov, Bengio 2013), and
/// returns the norm from before. Gradients at or below the limit are left bit for bit. Each parameter's own norm from
/// before is noted in it (Parameter::grad_norm). A norm that is not finite is returned and nothing is scaled.
/// Parameters without a gradient do not count. Throws ValueError for a negative or NaN limit, GradientError after a
/// failed backward pass.
double clip_grad_norm(const std::vector<Parameter>& parameters, double max_norm);
double clip_grad_norm(const ParamStore& store, double max_norm);

}  // namespace xtape::inline XTAPE_FLAVOUR
