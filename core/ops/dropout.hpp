// Dropout (Srivastava et al. 2014), inverted: kept elements are scaled by 1/(1-p).
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// What a mask depends on, and nothing else: the same key gives the same mask.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< which layer
  std::uint64_t call = 0;    ///< which of the layer's calls
};

/// Zeroes each element with probability p, scales the others by 1/(1-p). p = 0 returns x itself, p = 1 zeros. Throws
/// ValueError unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p, const RandomKey& key);

/// Throws ValueError unless 0 <= p <= 1 (NaN throws too).
void check_probability(const char* op, double p);

}  // namespace xtape::inline XTAPE_DTYPE
