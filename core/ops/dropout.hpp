// Inverted dropout (Srivastava et al. 2014): kept elements are scaled by 1/(1-p).
#pragma once

#include <xtape/core/random.hpp>
#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Sets each element to zero with probability p and scales the others by 1/(1-p). p = 0 returns x itself, p = 1 zeros.
/// The mask depends on the key only. Throws ValueError unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p, const RandomKey& key);

/// Throws ValueError unless 0 <= p <= 1; also for NaN.
void check_probability(const char* op, double p);

}  // namespace xtape::inline XTAPE_DTYPE
