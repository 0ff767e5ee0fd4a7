// Gradient clipping.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Clips gradients by their joint 2-norm over all parameters (Pascanu, Mikolov, Bengio 2013). If the norm exceeds
/// max_norm, multiplies every gradient by max_norm / norm; else the gradients keep their bits. Returns the norm before
/// clipping. Each parameter caches the norm of its own gradient before clipping (Parameter::grad_norm). If an element
/// is NaN or infinite, so is the norm that is returned, and nothing is scaled. Parameters without a gradient are
/// ignored, and one that is listed twice counts once. Throws ValueError for a negative or NaN max_norm and for an empty
/// handle, GradientError after a failed backward pass.
double clip_grad_norm(const std::vector<Parameter>& parameters, double max_norm);
double clip_grad_norm(const ParamStore& store, double max_norm);

/// Clamps every element of every gradient to [-max_value, max_value]. Returns the joint 2-norm before clipping, and
/// each parameter caches its own. If an element is NaN or infinite, so is the norm, and nothing is clamped. A parameter
/// that is listed twice counts once. Throws ValueError for a negative or NaN max_value and for an empty handle,
/// GradientError after a failed backward pass.
double clip_grad_value(const std::vector<Parameter>& parameters, double max_value);
double clip_grad_value(const ParamStore& store, double max_value);

}  // namespace xtape::inline XTAPE_DTYPE
