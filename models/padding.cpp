#include <xtape/core/error.hpp>
#include <xtape/core/ops/mask.hpp>
#include <xtape/models/padding.hpp>

namespace xtape::inline XTAPE_DTYPE {

Tensor without_padding(const char* op, const Tensor& x, const Mask& padding) {
  if (!is_given(padding)) return x;
  const Shape& shape = x.shape();
  if (shape.size() != 3 || !same_shape(padding.shape(), Shape{shape[0], shape[1]}))
    fail_shapes<Shape>(op, "the padding must be [B, T]",
                       {Shape(padding.shape().begin(), padding.shape().end()), shape});
  Mask hidden = padding;
  hidden.reshape(Shape{shape[0], shape[1], 1});
  return masked_fill(x, hidden, 0);
}

}  // namespace xtape::inline XTAPE_DTYPE
