#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/rotary.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

void rotary(const RotaryAngles& angles, Rotation rotation, index_t batches, index_t heads, index_t row_size,
            const real* x, Output y) {
  const real sign = rotation == Rotation::forward ? 1 : -1;
  parallel_for(batches * heads, [&](index_t task) {
    const index_t first_angle = task / heads * angles.sequence_stride;
    const real *c = angles.cosines + first_angle, *s = angles.sines + first_angle;
    const real* from = x + task * row_size;
    real* to = y.data + task * row_size;
    for (index_t i = 0; i < row_size / 2; ++i) {
      const real a = from[2 * i], b = from[2 * i + 1];
      to[2 * i] = (y.add ? to[2 * i] : 0) + c[i] * a - sign * s[i] * b;
      to[2 * i + 1] = (y.add ? to[2 * i + 1] : 0) + sign * s[i] * a + c[i] * b;
    }
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
