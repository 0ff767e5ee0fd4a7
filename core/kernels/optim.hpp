// Optimizer updates, one pass over each parameter; the formulas are in isa/types.hpp. Each returns the sum of the
// squares of what it added to the value.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

#include <span>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// `first` and `second` are the moments m and v.
double adam(const AdamStep& step, const real* gradient, real* value, real* first, real* second, index_t n);

/// `velocity` may be null.
double momentum(const MomentumStep& step, const real* gradient, real* value, real* velocity, index_t n);

/// A bound of every number that a step computes for gradients up to `gradient`; infinite or NaN if there is none.
/// `state` has the bounds of the value and of each slot before the step, and gets those after it.
double largest_in_step(const AdamStep& step, double gradient, std::span<double> state);
double largest_in_step(const MomentumStep& step, double gradient, std::span<double> state);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
