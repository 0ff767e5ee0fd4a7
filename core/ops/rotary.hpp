// Rotary positions. Letters: B batch, H heads, T positions, D width of a head.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct RotaryOptions {
  index_t offset = 0;       ///< position of row 0
  IndexArray offsets = {};  ///< [B], the position of row 0 of each sequence; empty: `offset` for all
  double base = 10000;      ///< pair i rotates by base^(-2i/D) radians a position
};

/// Rotates each pair (x[2i], x[2i+1]) of x [B, H, T, D] by its position times base^(-2i/D) radians (Su et al. 2021,
/// equation 34). The product of two rotated vectors depends on the difference of their positions only. Throws
/// ShapeError for an odd D, ValueError for a base that is not positive.
Tensor rotary(const Tensor& x, const RotaryOptions& options = {});

}  // namespace xtape::inline XTAPE_DTYPE
