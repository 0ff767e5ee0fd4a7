// Optimizer updates, one pass over each parameter; the formulas are in isa/types.hpp. Each returns the sum of the
// squares of what it added to the value.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// `first` and `second` are the moments m and v.
double adam(const AdamStep& step, const real* gradient, real* value, real* first, real* second, index_t n);

/// `velocity` may be null.
double momentum(const MomentumStep& step, const real* gradient, real* value, real* velocity, index_t n);

/// Upper bounds of magnitudes in value and slots.
struct StateBounds {
  double value = 0, first = 0, second = 0;
};

/// A bound of every number that a step computes for gradients up to `gradient`; infinite or NaN if there is none. The
/// bounds become those of the state after the step.
double largest_in_step(const AdamStep& step, double gradient, StateBounds& state);
double largest_in_step(const MomentumStep& step, double gradient, StateBounds& state);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
