#include <xtape/core/error.hpp>
#include <xtape/core/ops/mask.hpp>
#include <xtape/models/padding.hpp>

namespace xtape::inline XTAPE_DTYPE {

Tensor without_padding(const char* op, const Tensor& x, const Mask& padding) {
  if (!is_given(padding)) return x;
  const Shape& shape = x.shape();
  if (shape.rank() != 3) throw ShapeError(op, "x [B, T, C]", shape);
  check_shape(op, "a padding", padding.shape(), {shape[0], shape[1]});
  Mask hidden = padding;
  hidden.reshape(Shape{shape[0], shape[1], 1}.unsigned_sizes());
  return masked_fill(x, hidden, 0);
}

}  // namespace xtape::inline XTAPE_DTYPE
