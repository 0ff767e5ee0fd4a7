#include <xtape/core/error.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

void broadcast_strides(const Shape& shape, std::size_t rank, index_t* strides) {
  index_t step = 1;
  for (std::size_t i = 0; i < rank; ++i) strides[i] = 0;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[rank - shape.size() + i] = shape[i] == 1 ? 0 : step;
    step *= static_cast<index_t>(shape[i]);
  }
}

void check_rank(const char* op, const Shape& shape) {
  if (shape.size() > kernels::kMaxRank)
    throw ShapeError(op, "at most " + std::to_string(kernels::kMaxRank) + " axes", shape);
}

kernels::StridedLoop loop_over(const char* op, const Shape& shape) {
  check_rank(op, shape);
  kernels::StridedLoop loop;
  loop.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), loop.size);
  return loop;
}

kernels::StridedLoop broadcast_loop(const char* op, const Shape& shape, const Shape& a) {
  kernels::StridedLoop loop = loop_over(op, shape);
  broadcast_strides(a, shape.size(), loop.stride);
  return loop;
}

kernels::StridedLoop broadcast_loop(const char* op, const Shape& shape, const Shape& a, const Shape& b) {
  const bool one_a = element_count(a) == 1, one_b = element_count(b) == 1;
  if ((one_a || same_shape(a, shape)) && (one_b || same_shape(b, shape)))  // one row, whatever the rank
    return {1, {element_count(shape)}, {!one_a}, {!one_b}};
  kernels::StridedLoop loop = broadcast_loop(op, shape, a);
  broadcast_strides(b, shape.size(), loop.stride_b);
  return loop;
}

Tensor broadcast_binary(const char* op, kernels::Binary f, const Array& a, const Array& b) {
  const bool alike = same_shape(a.shape(), b.shape());
  Storage out(alike ? a.shape() : broadcast_shape(op, a.shape(), b.shape()));
  Array& y = out.edit();
  if (alike) kernels::binary(f, a.data(), 1, b.data(), 1, y.data(), count_of(y));
  else kernels::binary_strided(f, broadcast_loop(op, y.shape(), a.shape(), b.shape()), a.data(), b.data(), y.data());
  return Tensor(std::move(out));
}

}  // namespace xtape::inline XTAPE_DTYPE
