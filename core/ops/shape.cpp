#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/shape.hpp>

#include <algorithm>
#include <numeric>

namespace xtape::inline XTAPE_DTYPE {

Tensor reshape(const Tensor& x, const Axes& shape) {
  const Shape target = infer_shape("reshape", shape, x.shape());
  Array y(target);
  std::copy_n(x.data(), x.numel(), y.data());
  return Tape::record("reshape", {x}, Tensor(std::move(y)), [](const Array&, Grads& g) { g.pass(0); });
}

Tensor permute(const Tensor& x, const Axes& axes) {
  if (axes.size() != x.rank()) fail_shapes<Shape>("permute", "every axis must be named once", {x.shape()});
  normalize_axes("permute", axes, x.shape());
  if (x.rank() > static_cast<std::size_t>(kernels::kMaxRank))
    fail_shapes<Shape>("permute", "at most 12 axes can be permuted", {x.shape()});
  index_t strides[kernels::kMaxRank] = {};
  for (index_t step = 1, i = static_cast<index_t>(x.rank()) - 1; i >= 0; --i) {
    strides[i] = step;
    step *= x.size(i);
  }
  kernels::StridedLoop loop;
  loop.rank = static_cast<int>(x.rank());
  Shape shape(x.rank());
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::size_t from = normalize_axis("permute", axes[i], x.shape());
    shape[i] = x.shape()[from];
    loop.size[i] = static_cast<index_t>(shape[i]);
    loop.stride[i] = strides[from];
  }
  Array y(shape);
  kernels::copy_from_strided(loop, x.data(), y.data(), false);
  return Tape::record("permute", {x}, Tensor(std::move(y)), [loop](const Array& dy, Grads& g) {
    const Output dx = g.buffer(0);
    kernels::copy_to_strided(loop, dy.data(), dx.data, dx.add);
  });
}

Tensor transpose(const Tensor& x, index_t axis_a, index_t axis_b) {
  const std::size_t a = normalize_axis_or_scalar("transpose", axis_a, x.shape()),
                    b = normalize_axis_or_scalar("transpose", axis_b, x.shape());
  Axes axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (a != b) std::swap(axes[a], axes[b]);
  return permute(x, axes);
}

namespace {

/// `shape` with a further axis of the given extent at a position from -rank-1 to rank.
Shape with_axis(const char* caller, const Shape& shape, index_t axis, std::size_t size) {
  const auto rank = static_cast<index_t>(shape.size());
  if (axis < -rank - 1 || axis > rank)
    fail_shapes<Shape>(caller, "there is no place " + std::to_string(axis) + " for a further axis", {shape});
  const auto at = axis < 0 ? axis + rank + 1 : axis;
  Shape out(shape.begin(), shape.begin() + at);
  out.push_back(size);
  for (index_t i = at; i < rank; ++i) out.push_back(shape[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace

Tensor slice(const Tensor& x, index_t axis, index_t begin, index_t end, index_t step) {
  const std::size_t at = normalize_axis("slice", axis, x.shape());
  const auto size = static_cast<index_t>(x.shape()[at]);
  if (step < 1) throw ValueError("slice", "the step must be at least 1, not " + std::to_string(step));
  const index_t first = begin < 0 ? begin + size : begin;
  const index_t last = end == kEnd ? size : (end < 0 ? end + size : end);
  if (first < 0 || last > size || first > last)
    throw IndexError("slice", "positions " + std::to_string(begin) + " to " + std::to_string(last) +
                                  " do not lie in order within an axis of " + std::to_string(size));
  const index_t hop = std::min(step, std::max<index_t>(size, 1));  // a longer step picks the same
  const index_t count = (last - first + hop - 1) / hop;
  const AxisSizes along = around_axis(x.shape(), at);
  const index_t inner = along.inner;
  kernels::StridedLoop loop;
  loop.rank = 3;
  loop.size[0] = along.outer;
  loop.size[1] = count;
  loop.size[2] = inner;
  loop.stride[0] = size * inner;
  loop.stride[1] = hop * inner;
  loop.stride[2] = 1;
  Shape shape = x.shape();
  shape[at] = static_cast<std::size_t>(count);
  Array y(shape);
  kernels::copy_from_strided(loop, offset_pointer(x.data(), first * inner), y.data(), false);
  return Tape::record("slice", {x}, Tensor(std::move(y)),
                      [loop, skip = first * inner, total = x.numel()](const Array& dy, Grads& g) {
                        const Output dx = g.buffer(0);
                        if (!dx.add) kernels::fill(dx.data, 0, total);
                        kernels::copy_to_strided(loop, dy.data(), offset_pointer(dx.data, skip), true);
                      });
}

namespace {

/// Copies between a part and its rows in the joined array: `outer` runs of part_run at every joined_run.
struct Joint {
  index_t outer, part_run, joined_run, skip;

  kernels::StridedLoop loop() const {
    kernels::StridedLoop w;
    w.rank = 2;
    w.size[0] = outer;
    w.size[1] = part_run;
    w.stride[0] = joined_run;
    w.stride[1] = 1;
    return w;
  }
};

}  // namespace

namespace {

/// Parts joined into `shape`, of which each part holds the same `outer` runs.
Tensor join(const char* op, const std::vector<Tensor>& parts, const Shape& shape, index_t outer) {
  Array y(shape);
  const index_t joined_run = outer ? count_of(y) / outer : 0;
  std::vector<Joint> joints;
  index_t skip = 0;
  for (const Tensor& part : parts) {
    const index_t run = outer ? part.numel() / outer : 0;
    joints.push_back({outer, run, joined_run, skip});
    kernels::copy_to_strided(joints.back().loop(), part.data(), offset_pointer(y.data(), skip), false);
    skip += run;
  }
  const std::vector<Operand> operands(parts.begin(), parts.end());
  return Tape::record(
      op, std::span<const Operand>(operands), Tensor(std::move(y)), [joints](const Array& dy, Grads& g) {
        for (std::size_t i = 0; i < joints.size(); ++i) {
          if (!g.needs(i)) continue;
          const Output to = g.buffer(i);
          kernels::copy_from_strided(joints[i].loop(), offset_pointer(dy.data(), joints[i].skip), to.data, to.add);
        }
      });
}

}  // namespace

Tensor concat(const std::vector<Tensor>& parts, index_t axis) {
  if (parts.empty()) throw ValueError("concat", "there is nothing to join");
  Shape shape = parts[0].shape();
  const std::size_t at = normalize_axis("concat", axis, shape);
  const index_t outer = around_axis(shape, at).outer;
  shape[at] = 0;
  for (const Tensor& part : parts) {
    Shape other = part.shape();
    if (other.size() == shape.size()) other[at] = shape[at];
    if (!same_shape(other, shape))
      fail_shapes<Shape>("concat", "shapes may differ in the joined axis only", {parts[0].shape(), part.shape()});
    shape[at] += part.shape()[at];
  }
  element_count(shape, "concat");
  return join("concat", parts, shape, outer);
}

Tensor stack(const std::vector<Tensor>& parts, index_t axis) {
  if (parts.empty()) throw ValueError("stack", "there is nothing to stack");
  for (const Tensor& part : parts)
    if (!same_shape(part.shape(), parts[0].shape()))
      fail_shapes<Shape>("stack", "the shapes must agree", {parts[0].shape(), part.shape()});
  const Shape shape = with_axis("stack", parts[0].shape(), axis, parts.size());
  element_count(shape, "stack");
  return join("stack", parts, shape, around_axis(shape, normalize_axis("stack", axis, shape)).outer);
}

std::vector<Tensor> split(const Tensor& x, index_t size, index_t axis) {
  if (size < 1) throw ValueError("split", "the size of a piece must be at least 1, not " + std::to_string(size));
  const index_t whole = static_cast<index_t>(x.shape()[normalize_axis("split", axis, x.shape())]);
  Axes sizes = {std::min(size, whole)};  // of an empty axis, too
  for (index_t begin = size; begin < whole; begin += size) sizes.push_back(std::min(size, whole - begin));
  return split_with_sizes(x, sizes, axis);
}

std::vector<Tensor> split_with_sizes(const Tensor& x, const Axes& sizes, index_t axis) {
  const index_t whole = static_cast<index_t>(x.shape()[normalize_axis("split", axis, x.shape())]);
  index_t total = 0;
  for (index_t size : sizes) {
    if (size < 0 || size > whole - total)
      throw ValueError("split", "the sizes must be positive or 0 and add up to " + std::to_string(whole));
    total += size;
  }
  if (total != whole) throw ValueError("split", "the sizes must add up to " + std::to_string(whole));
  std::vector<Tensor> parts;
  index_t begin = 0;
  for (index_t size : sizes) {
    parts.push_back(slice(x, axis, begin, begin + size));
    begin += size;
  }
  return parts;
}

Tensor squeeze(const Tensor& x, const Axes& axes) {
  std::vector<bool> dropped(x.rank(), false);
  if (axes.empty()) {
    for (std::size_t i = 0; i < x.rank(); ++i) dropped[i] = x.shape()[i] == 1;
  } else {
    for (std::size_t axis : normalize_axes("squeeze", axes, x.shape())) {
      if (x.shape()[axis] != 1)
        fail_shapes<Shape>("squeeze", "axis " + std::to_string(axis) + " is not of extent 1", {x.shape()});
      dropped[axis] = true;
    }
  }
  Axes shape;
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (!dropped[i]) shape.push_back(static_cast<index_t>(x.shape()[i]));
  return reshape(x, shape);
}

Tensor unsqueeze(const Tensor& x, index_t axis) {
  const Shape shape = with_axis("unsqueeze", x.shape(), axis, 1);
  return reshape(x, Axes(shape.begin(), shape.end()));
}

Tensor broadcast_to(const Tensor& x, const Axes& shape) {
  for (index_t size : shape)
    if (size < 0) throw ValueError("broadcast_to", "an extent must not be negative, but is " + std::to_string(size));
  const Shape target(shape.begin(), shape.end());
  if (!same_shape(broadcast_shape("broadcast_to", x.shape(), target), target))
    fail_shapes<Shape>("broadcast_to", "the tensor does not broadcast to the shape", {x.shape(), target});
  if (target.size() > static_cast<std::size_t>(kernels::kMaxRank))
    fail_shapes<Shape>("broadcast_to", "at most 12 axes can be broadcast", {target});
  kernels::StridedLoop loop;
  loop.rank = static_cast<int>(target.size());
  std::copy(shape.begin(), shape.end(), loop.size);
  broadcast_strides(x.shape(), target.size(), loop.stride);
  Array y(target);
  kernels::copy_from_strided(loop, x.data(), y.data(), false);
  return Tape::record("broadcast_to", {x}, Tensor(std::move(y)), [](const Array& dy, Grads& g) { g.add(0, dy); });
}

Tensor flip(const Tensor& x, const Axes& axes) {
  const std::vector<std::size_t> flipped = normalize_axes("flip", axes, x.shape());
  if (x.rank() > static_cast<std::size_t>(kernels::kMaxRank))
    fail_shapes<Shape>("flip", "at most 12 axes can be flipped", {x.shape()});
  kernels::StridedLoop loop;
  loop.rank = static_cast<int>(x.rank());
  index_t first = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const AxisSizes along = around_axis(x.shape(), i);
    const bool backwards = std::binary_search(flipped.begin(), flipped.end(), i);
    loop.size[i] = along.count;
    loop.stride[i] = backwards ? -along.inner : along.inner;
    if (backwards) first += (along.count - 1) * along.inner;
  }
  Array y(x.shape());
  if (x.numel() > 0) kernels::copy_from_strided(loop, x.data() + first, y.data(), false);
  return Tape::record("flip", {x}, Tensor(std::move(y)), [loop, first](const Array& dy, Grads& g) {
    const Output dx = g.buffer(0);  // a flip undoes itself
    if (dy.size() > 0) kernels::copy_from_strided(loop, dy.data() + first, dx.data, dx.add);
  });
}

GradCases shape_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array cube = sample({2, 3, 4}, 31), flat = sample({2, 6}, 32), other = sample({2, 2, 4}, 33);
  const Array cube2 = sample({2, 3, 4}, 34), column = sample({3, 1}, 35);
  return {
      {"reshape",
       "",
       {flat},
       [](Args x) {
         return reshape(x[0], {3, -1});
       }},
      {"permute",
       "all axes",
       {cube},
       [](Args x) {
         return permute(x[0], {2, 0, 1});
       }},
      {"permute",
       "heads",
       {cube},
       [](Args x) {
         return permute(x[0], {1, 0, 2});
       }},
      {"permute", "transpose", {flat}, [](Args x) { return transpose(x[0]); }},
      {"slice", "middle axis", {cube}, [](Args x) { return slice(x[0], 1, 1, 3); }},
      {"slice", "with a step", {cube}, [](Args x) { return slice(x[0], -1, -4, kEnd, 2); }},
      {"concat",
       "middle axis",
       {cube, other},
       [](Args x) {
         return concat({x[0], x[1]}, 1);
       }},
      {"concat",
       "the same part twice",
       {cube, cube},
       [](Args x) {
         return concat({x[0], x[1]}, -1);
       }},
      {"stack",
       "in front",
       {cube, cube2},
       [](Args x) {
         return stack({x[0], x[1]}, 0);
       }},
      {"stack",
       "in the middle",
       {cube, cube2},
       [](Args x) {
         return stack({x[0], x[1]}, 1);
       }},
      {"stack",
       "behind",
       {cube, cube2},
       [](Args x) {
         return stack({x[0], x[1]}, -1);
       }},
      {"slice", "split, a part of two", {cube}, [](Args x) { return split(x[0], 2, 1)[1]; }},
      {"slice",
       "split, all parts",
       {cube},
       [](Args x) {
         return concat(split_with_sizes(x[0], {1, 3}, 2), 2);
       }},
      {"reshape", "squeeze", {column}, [](Args x) { return squeeze(x[0]); }},
      {"reshape", "unsqueeze", {flat}, [](Args x) { return unsqueeze(x[0], 1); }},
      {"broadcast_to",
       "a column",
       {column},
       [](Args x) {
         return broadcast_to(x[0], {2, 3, 4});
       }},
      {"broadcast_to",
       "a row",
       {flat},
       [](Args x) {
         return broadcast_to(x[0], {3, 2, 6});
       }},
      {"flip", "all axes", {cube}, [](Args x) { return flip(x[0]); }},
      {"flip",
       "first and last",
       {cube},
       [](Args x) {
         return flip(x[0], {0, -1});
       }},
  };
}

}  // namespace xtape::inline XTAPE_DTYPE
