// Rotary positions: rotates the pairs of neighbors in each row.
#pragma once

#include <xtape/core/kernels/isa/output.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Cosine and sine of the angle of each pair of a sequence, [T, D/2]. All heads share them.
struct RotaryAngles {
  const real* cosines;
  const real* sines;
  index_t sequence_stride;  ///< elements to the angles of the next sequence; 0: all sequences share them
};

enum class Rotation { forward, backward };  ///< by the angles, or by minus the angles

/// y = x with each pair (x[2i], x[2i+1]) rotated. x and y are [batches, heads, row_size] with row_size = T D.
void rotary(const RotaryAngles& angles, Rotation rotation, index_t batches, index_t heads, index_t row_size,
            const real* x, Output y);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
