#include <xtape/core/error.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>

namespace xtape::inline XTAPE_DTYPE {

void broadcast_strides(const Shape& shape, std::size_t rank, index_t* strides) {
  index_t step = 1;
  for (std::size_t i = 0; i < rank; ++i) strides[i] = 0;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[rank - shape.size() + i] = shape[i] == 1 ? 0 : step;
    step *= static_cast<index_t>(shape[i]);
  }
}

kernels::StridedLoop loop_over(const char* op, const Shape& shape) {
  if (shape.size() > kernels::kMaxRank)
    throw ShapeError(op, "at most " + std::to_string(kernels::kMaxRank) + " axes", shape);
  kernels::StridedLoop loop;
  loop.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), loop.size);
  return loop;
}

BroadcastPlan broadcast_plan(const char* op, const Shape& shape, const Shape& a, const Shape& b) {
  BroadcastPlan p;
  const bool one_a = element_count(a) == 1, one_b = element_count(b) == 1;
  p.contiguous = (one_a || same_shape(a, shape)) && (one_b || same_shape(b, shape));
  p.step_a = !one_a;
  p.step_b = !one_b;
  if (p.contiguous) return p;
  p.loop = loop_over(op, shape);
  broadcast_strides(a, shape.size(), p.loop.stride);
  broadcast_strides(b, shape.size(), p.loop.stride_b);
  return p;
}

Tensor broadcast_binary(const char* op, kernels::Binary f, const Array& a, const Array& b) {
  const bool alike = same_shape(a.shape(), b.shape());
  Storage out(alike ? a.shape() : broadcast_shape(op, a.shape(), b.shape()));
  Array& y = out.edit();
  if (alike) {
    kernels::binary(f, a.data(), 1, b.data(), 1, y.data(), count_of(y));
  } else {
    const BroadcastPlan p = broadcast_plan(op, y.shape(), a.shape(), b.shape());
    if (p.contiguous) kernels::binary(f, a.data(), p.step_a, b.data(), p.step_b, y.data(), count_of(y));
    else kernels::binary_strided(f, p.loop, a.data(), b.data(), y.data());
  }
  return Tensor(std::move(out));
}

}  // namespace xtape::inline XTAPE_DTYPE
