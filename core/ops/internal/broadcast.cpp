#include <xtape/core/error.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

void broadcast_strides(const Shape& shape, index_t rank, index_t* strides) {
  index_t step = 1;
  for (index_t i = 0; i < rank; ++i) strides[i] = 0;
  for (index_t i = shape.rank(); i-- > 0;) {
    strides[rank - shape.rank() + i] = shape[i] == 1 ? 0 : step;
    step *= shape[i];
  }
}

void check_rank(const char* op, const Shape& shape) {
  if (shape.rank() > kernels::kMaxRank)
    throw ShapeError(op, "at most " + std::to_string(kernels::kMaxRank) + " axes", shape);
}

kernels::StridedLoop loop_over(const char* op, const Shape& shape) {
  check_rank(op, shape);
  kernels::StridedLoop loop;
  loop.rank = static_cast<int>(shape.rank());
  std::copy(shape.begin(), shape.end(), loop.size);
  return loop;
}

kernels::StridedLoop broadcast_loop(const char* op, const Shape& shape, const Shape& a) {
  kernels::StridedLoop loop = loop_over(op, shape);
  broadcast_strides(a, shape.rank(), loop.stride);
  return loop;
}

kernels::StridedLoop broadcast_loop(const char* op, const Shape& shape, const Shape& a, const Shape& b) {
  const bool one_a = element_count(a) == 1, one_b = element_count(b) == 1;
  if ((one_a || a == shape) && (one_b || b == shape))  // one row, whatever the rank
    return {1, {element_count(shape)}, {!one_a}, {!one_b}};
  kernels::StridedLoop loop = broadcast_loop(op, shape, a);
  broadcast_strides(b, shape.rank(), loop.stride_b);
  return loop;
}

Tensor broadcast_binary(const char* op, kernels::Binary f, const Array& a, const Array& b) {
  const bool alike = a.shape() == b.shape();
  Storage out = alike ? Storage(a.shape()) : Storage(broadcast_shape(op, a.shape(), b.shape()));
  real* y = out.edit();
  if (alike) kernels::binary(f, a.data(), 1, b.data(), 1, y, numel(a));
  else kernels::binary_strided(f, broadcast_loop(op, out.shape(), a.shape(), b.shape()), a.data(), b.data(), y);
  return Tensor(std::move(out));
}

}  // namespace xtape::inline XTAPE_DTYPE
