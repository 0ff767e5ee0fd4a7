// Optimizer updates, one pass over each parameter; the formulas are in isa/types.hpp. Each returns the sum of the
// squares of what it added to the value.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// `first` and `second` are the moments m and v.
double adam(const AdamStep& step, const real* gradient, real* value, real* first, real* second, index_t n);

/// `velocity` may be null.
double momentum(const MomentumStep& step, const real* gradient, real* value, real* velocity, index_t n);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
