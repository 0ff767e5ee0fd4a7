#include <xtape/core/error.hpp>
#include <xtape/core/kernels/rotary.hpp>
#include <xtape/core/ops/rotary.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Cosine and sine of every angle, [B or 1, T, D/2] each.
struct AngleTable {
  Array cosines, sines;

  AngleTable(const Tensor& x, const RotaryOptions& o) {
    const index_t sequences = o.offsets.dimension() ? x.size(0) : 1, time = x.size(2), pairs = x.size(3) / 2;
    cosines = empty_array({sequences, time, pairs});
    sines = empty_array(cosines.shape());
    for (index_t i = 0; i < pairs; ++i) {
      const double frequency = std::pow(o.base, -2 * static_cast<double>(i) / static_cast<double>(2 * pairs));
      for (index_t b = 0; b < sequences; ++b) {
        const index_t offset = o.offsets.dimension() ? o.offsets.data()[b] : o.offset;
        for (index_t t = 0; t < time; ++t) {
          const double angle = static_cast<double>(offset + t) * frequency;
          cosines.data()[(b * time + t) * pairs + i] = static_cast<real>(std::cos(angle));
          sines.data()[(b * time + t) * pairs + i] = static_cast<real>(std::sin(angle));
        }
      }
    }
  }

  void rotate(kernels::Rotation rotation, const Shape& shape, const real* x, Output y) const {
    const index_t row_size = shape[2] * shape[3];
    const kernels::RotaryAngles angles{cosines.data(), sines.data(), cosines.shape()[0] == 1 ? 0 : row_size / 2};
    kernels::rotary(angles, rotation, shape[0], shape[1], row_size, x, y);
  }
};

}  // namespace

Tensor rotary(const Tensor& x, const RotaryOptions& options) {
  if (x.rank() != 4 || x.size(3) % 2 != 0) throw ShapeError("rotary", "x [B, H, T, D] with an even D", x.shape());
  if (is_given(options.offsets)) check_shape("rotary", "offsets", options.offsets.shape(), Shape{x.size(0)});
  if (!(options.base > 0) || std::isinf(options.base))
    throw ValueError("rotary", "a base that is positive and finite", options.base);
  AngleTable angles(x, options);
  Array y = empty_array(x.shape());
  angles.rotate(kernels::Rotation::forward, x.shape(), x.data(), {y.data()});
  return Tape::record("rotary", {x}, Tensor(std::move(y)), [angles = std::move(angles)](const Array& dy, Grads& g) {
    angles.rotate(kernels::Rotation::backward, dy.shape(), dy.data(), g.buffer(0));
  });
}

}  // namespace xtape::inline XTAPE_DTYPE
