#include <xtape/core/error.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/shape.hpp>

#include <algorithm>
#include <numeric>

namespace xtape::inline XTAPE_DTYPE {

Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape target = infer_shape("reshape", shape, x.shape());
  Array y = empty_array(target);
  std::copy_n(x.data(), x.numel(), y.data());
  return Tape::record("reshape", {x}, Tensor(std::move(y)), [](const Array&, Grads& g) { g.pass(0); });
}

Tensor permute(const Tensor& x, const Axes& axes) {
  if (std::ssize(axes) != x.rank()) throw ShapeError("permute", "every axis of shape " + shape_text(x.shape()), axes);
  normalize_axes("permute", axes, x.shape());
  Shape shape = x.shape();
  kernels::StridedLoop loop = loop_over("permute", x.shape());
  for (index_t i = 0; i < x.rank(); ++i) {
    const index_t from = normalize_axis("permute", axes[i], x.shape());
    shape[i] = x.shape()[from];
    loop.size[i] = shape[i];
    loop.stride[i] = around_axis(x.shape(), from).inner;
  }
  Array y = empty_array(shape);
  kernels::copy_from_strided(loop, x.data(), {y.data()});
  return Tape::record("permute", {x}, Tensor(std::move(y)),
                      [loop](const Array& dy, Grads& g) { kernels::copy_to_strided(loop, dy.data(), g.buffer(0)); });
}

Tensor transpose(const Tensor& x, index_t axis_a, index_t axis_b) {
  const index_t a = normalize_axis_or_scalar("transpose", axis_a, x.shape()),
                b = normalize_axis_or_scalar("transpose", axis_b, x.shape());
  Axes axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (a != b) std::swap(axes[a], axes[b]);
  return permute(x, axes);
}

Tensor slice(const Tensor& x, index_t axis, index_t begin, index_t end, index_t step) {
  const index_t at = normalize_axis("slice", axis, x.shape());
  const index_t size = x.shape()[at];
  if (step < 1) throw ValueError("slice", "a step of at least 1", step);
  const index_t first = begin < 0 ? begin + size : begin;
  const index_t last = end == kEnd ? size : (end < 0 ? end + size : end);
  if (first < 0 || last > size || first > last)
    throw IndexError("slice", "positions in order within an axis of " + std::to_string(size), begin, last);
  const index_t hop = std::min(step, std::max<index_t>(size, 1));  // a longer step picks the same
  const index_t count = (last - first + hop - 1) / hop;
  const AxisSizes along = around_axis(x.shape(), at);
  const index_t inner = along.inner;
  const kernels::StridedLoop loop = kernels::strided_loop({along.outer, count, inner}, {size * inner, hop * inner, 1});
  Shape shape = x.shape();
  shape[at] = count;
  Array y = empty_array(shape);
  kernels::copy_from_strided(loop, offset_pointer(x.data(), first * inner), {y.data()});
  return Tape::record("slice", {x}, Tensor(std::move(y)), [loop, skip = first * inner](const Array& dy, Grads& g) {
    kernels::copy_to_strided(loop, dy.data(), g.cleared_buffer(0).at(skip));
  });
}

Tensor squeeze(const Tensor& x, const Axes& axes) {
  std::vector<bool> dropped(x.rank(), false);
  if (axes.empty()) {
    for (index_t i = 0; i < x.rank(); ++i) dropped[i] = x.shape()[i] == 1;
  } else {
    for (index_t axis : normalize_axes("squeeze", axes, x.shape())) {
      if (x.shape()[axis] != 1)
        throw ShapeError("squeeze", "a size of 1 along axis " + std::to_string(axis), x.shape());
      dropped[axis] = true;
    }
  }
  Shape shape;
  for (index_t i = 0; i < x.rank(); ++i)
    if (!dropped[i]) shape.push_back(x.shape()[i]);
  return reshape(x, shape);
}

Tensor unsqueeze(const Tensor& x, index_t axis) { return reshape(x, insert_axis("unsqueeze", x.shape(), axis, 1)); }

Tensor broadcast_to(const Tensor& x, const Shape& target) {
  for (index_t size : target)
    if (size < 0) throw ValueError("broadcast_to", "sizes of at least 0", size);
  if (broadcast_shape("broadcast_to", x.shape(), target) != target)
    throw ShapeError("broadcast_to", "x that broadcasts to " + shape_text(target), x.shape());
  const kernels::StridedLoop loop = broadcast_loop("broadcast_to", target, x.shape());
  Array y = empty_array(target);
  kernels::copy_from_strided(loop, x.data(), {y.data()});
  return Tape::record("broadcast_to", {x}, Tensor(std::move(y)), [](const Array& dy, Grads& g) { g.add(0, dy); });
}

Tensor flip(const Tensor& x, const Axes& axes) {
  const Axes flipped = normalize_axes("flip", axes, x.shape());
  kernels::StridedLoop loop = loop_over("flip", x.shape());
  index_t first = 0;
  for (index_t i = 0; i < x.rank(); ++i) {
    const AxisSizes along = around_axis(x.shape(), i);
    const bool backwards = std::binary_search(flipped.begin(), flipped.end(), i);
    loop.stride[i] = backwards ? -along.inner : along.inner;
    if (backwards) first += (along.count - 1) * along.inner;
  }
  Array y = empty_array(x.shape());
  if (x.numel() > 0) kernels::copy_from_strided(loop, x.data() + first, {y.data()});
  return Tape::record("flip", {x}, Tensor(std::move(y)), [loop, first](const Array& dy, Grads& g) {
    const Output dx = g.buffer(0);  // a flip undoes itself
    if (dy.size() > 0) kernels::copy_from_strided(loop, dy.data() + first, dx);
  });
}

namespace {

/// Visits the heads [B, H, T, D] in order; the strided operand is [B, T, columns].
kernels::StridedLoop heads_loop(index_t batches, index_t heads, index_t time, index_t width, index_t columns) {
  return kernels::strided_loop({batches, heads, time, width}, {time * columns, width, columns, 1});
}

}  // namespace

Tensor split_heads(const Tensor& x, index_t first, index_t heads, index_t width) {
  const bool fits = x.rank() == 3 && first >= 0 && heads >= 1 && width >= 0 && first <= x.size(2) &&
                    (width == 0 || heads <= (x.size(2) - first) / width);
  if (!fits)
    throw ShapeError("split_heads",
                     "x [B, T, C] with " + std::to_string(heads) + " heads of " + std::to_string(width) +
                         " columns from column " + std::to_string(first) + " on",
                     x.shape());
  const kernels::StridedLoop loop = heads_loop(x.size(0), heads, x.size(1), width, x.size(2));
  Array y = empty_array({x.size(0), heads, x.size(1), width});
  if (y.size() > 0) kernels::copy_from_strided(loop, offset_pointer(x.data(), first), {y.data()});
  return Tape::record("split_heads", {x}, Tensor(std::move(y)), [loop, first](const Array& dy, Grads& g) {
    const Output dx = g.cleared_buffer(0);
    if (dy.size() > 0) kernels::copy_to_strided(loop, dy.data(), dx.at(first));
  });
}

Tensor join_heads(const Tensor& x) {
  if (x.rank() != 4) throw ShapeError("join_heads", "x [B, H, T, D]", x.shape());
  const index_t columns = x.size(1) * x.size(3);
  const kernels::StridedLoop loop = heads_loop(x.size(0), x.size(1), x.size(2), x.size(3), columns);
  Array y = empty_array({x.size(0), x.size(2), columns});
  kernels::copy_to_strided(loop, x.data(), {y.data()});
  return Tape::record("join_heads", {x}, Tensor(std::move(y)),
                      [loop](const Array& dy, Grads& g) { kernels::copy_from_strided(loop, dy.data(), g.buffer(0)); });
}

}  // namespace xtape::inline XTAPE_DTYPE
