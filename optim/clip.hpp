// Gradient clipping.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Scales all gradients by max_norm / norm if their joint 2-norm exceeds max_norm (Pascanu, Mikolov, Bengio 2013), and
/// returns the norm from before. Gradients at or below the limit are left bit for bit. Each parameter's own norm from
/// before is noted in it (Parameter::grad_norm). A norm that is not finite is returned and nothing is scaled.
/// Parameters without a gradient do not count. Throws ValueError for a negative or NaN limit, GradientError after a
/// failed backward pass.
double clip_grad_norm(const std::vector<Parameter>& parameters, double max_norm);
double clip_grad_norm(const ParamStore& store, double max_norm);

/// Moves every element of every gradient into [-max_value, max_value], and returns the joint 2-norm from before; each
/// parameter's own is noted in it. As above, a norm that is not finite is returned and nothing is moved. Throws
/// ValueError for a negative or NaN limit, GradientError after a failed backward pass.
double clip_grad_value(const std::vector<Parameter>& parameters, double max_value);
double clip_grad_value(const ParamStore& store, double max_value);

}  // namespace xtape::inline XTAPE_DTYPE
