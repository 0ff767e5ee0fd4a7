// Between columns and heads, and rotary positions. Letters: B batch, T positions, H heads, D width of a head.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Columns first .. first + heads width - 1 of x [B, T, columns], each head's side by side -> [B, heads, T, width].
/// Throws ShapeError.
Tensor split_heads(const Tensor& x, index_t first, index_t heads, index_t width);

/// x [B, H, T, D] -> [B, T, H D]. Throws ShapeError.
Tensor join_heads(const Tensor& x);

struct RotaryOptions {
  index_t first = 0;        ///< position of row 0
  IndexArray offsets = {};  ///< the same for each sequence [B], or empty
  double base = 10000;      ///< pair i turns by base^(-2i/D) a position
};

/// Turns each pair (x[2i], x[2i+1]) of x [B, H, T, D] by its position times base^(-2i/D) (Su et al. 2021, equation 34):
/// the product of two turned vectors depends on the difference of their positions only. Throws ShapeError for an odd D,
/// ValueError for a base that is not positive.
Tensor rotary(const Tensor& x, const RotaryOptions& options = {});

}  // namespace xtape::inline XTAPE_DTYPE
