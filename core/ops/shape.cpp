#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/ops/elementwise.hpp>
#include <xtape/core/ops/shape.hpp>

#include <algorithm>
#include <numeric>

namespace xtape::inline XTAPE_FLAVOUR {

Tensor reshape(const Tensor& x, const Axes& shape) {
  const Shape target = filled_shape("reshape", shape, x.shape());
  Array y(target);
  std::copy_n(x.data(), x.size(), y.data());
  return Tape::record("reshape", {x}, Tensor(std::move(y)), [](const Array&, Grads& g) { g.pass(0); });
}

Tensor permute(const Tensor& x, const Axes& axes) {
  if (axes.size() != x.rank()) fail_shapes<Shape>("permute", "every axis must be named once", {x.shape()});
  normal_axes("permute", axes, x.shape());
  if (x.rank() > static_cast<std::size_t>(kernels::kMaxRank))
    fail_shapes<Shape>("permute", "at most 12 axes can be permuted", {x.shape()});
  index_t strides[kernels::kMaxRank] = {};
  for (index_t step = 1, i = static_cast<index_t>(x.rank()) - 1; i >= 0; --i) {
    strides[i] = step;
    step *= x.extent(i);
  }
  kernels::Walk walk;
  walk.rank = static_cast<int>(x.rank());
  Shape shape(x.rank());
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::size_t from = normal_axis("permute", axes[i], x.shape());
    shape[i] = x.shape()[from];
    walk.extent[i] = static_cast<index_t>(shape[i]);
    walk.stride[i] = strides[from];
  }
  Array y(shape);
  kernels::gather_strided(walk, x.data(), y.data(), false);
  return Tape::record("permute", {x}, Tensor(std::move(y)), [walk](const Array& dy, Grads& g) {
    const Destination dx = g.buffer(0);
    kernels::scatter_strided(walk, dy.data(), dx.data, dx.accumulate);
  });
}

Tensor transpose(const Tensor& x, index_t axis_a, index_t axis_b) {
  Axes axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[normal_axis("transpose", axis_a, x.shape())], axes[normal_axis("transpose", axis_b, x.shape())]);
  return permute(x, axes);
}

Tensor slice(const Tensor& x, index_t axis, index_t begin, index_t end, index_t step) {
  const std::size_t at = normal_axis("slice", axis, x.shape());
  const auto extent = static_cast<index_t>(x.shape()[at]);
  if (step < 1) throw ValueError("slice", "the step must be at least 1, not " + std::to_string(step));
  const index_t first = begin < 0 ? begin + extent : begin;
  const index_t last = end == kEnd ? extent : (end < 0 ? end + extent : end);
  if (first < 0 || last > extent || first > last)
    throw IndexError("slice", "positions " + std::to_string(begin) + " to " + std::to_string(last) +
                                  " do not lie in order within an axis of " + std::to_string(extent));
  const index_t count = (last - first + step - 1) / step;
  kernels::Walk walk;  // outer, picked, inner
  walk.rank = 3;
  walk.extent[0] = walk.extent[2] = 1;
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (i != at) walk.extent[i < at ? 0 : 2] *= x.extent(static_cast<index_t>(i));
  const index_t inner = walk.extent[2];
  walk.extent[1] = count;
  walk.stride[0] = extent * inner;
  walk.stride[1] = step * inner;
  walk.stride[2] = 1;
  Shape shape = x.shape();
  shape[at] = static_cast<std::size_t>(count);
  Array y(shape);
  kernels::gather_strided(walk, x.data() + first * inner, y.data(), false);
  return Tape::record("slice", {x}, Tensor(std::move(y)),
                      [walk, skip = first * inner, total = x.size()](const Array& dy, Grads& g) {
                        const Destination dx = g.buffer(0);
                        if (!dx.accumulate) kernels::fill(dx.data, 0, total);
                        kernels::scatter_strided(walk, dy.data(), dx.data + skip, true);
                      });
}

namespace {

/// Copies between a part and its rows in the joined array: `outer` runs of part_run at every joined_run.
struct Joint {
  index_t outer, part_run, joined_run, skip;

  kernels::Walk walk() const {
    kernels::Walk w;
    w.rank = 2;
    w.extent[0] = outer;
    w.extent[1] = part_run;
    w.stride[0] = joined_run;
    w.stride[1] = 1;
    return w;
  }
};

}  // namespace

Tensor concat(const std::vector<Tensor>& parts, index_t axis) {
  if (parts.empty()) throw ValueError("concat", "there is nothing to join");
  Shape shape = parts[0].shape();
  const std::size_t at = normal_axis("concat", axis, shape);
  index_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i != at) (i < at ? outer : inner) *= static_cast<index_t>(shape[i]);
  shape[at] = 0;
  for (const Tensor& part : parts) {
    Shape other = part.shape();
    if (other.size() == shape.size()) other[at] = shape[at];
    if (!same_shape(other, shape))
      fail_shapes<Shape>("concat", "shapes may differ in the joined axis only", {parts[0].shape(), part.shape()});
    shape[at] += part.shape()[at];
  }
  Array y(shape);
  std::vector<Joint> joints;
  index_t skip = 0;
  for (const Tensor& part : parts) {
    const index_t run = static_cast<index_t>(part.shape()[at]) * inner;
    joints.push_back({outer, run, static_cast<index_t>(shape[at]) * inner, skip});
    kernels::scatter_strided(joints.back().walk(), part.data(), y.data() + skip, false);
    skip += run;
  }
  const std::vector<Operand> operands(parts.begin(), parts.end());
  return Tape::record("concat", std::span<const Operand>(operands), Tensor(std::move(y)),
                      [joints](const Array& dy, Grads& g) {
                        for (std::size_t i = 0; i < joints.size(); ++i) {
                          if (!g.needs(i)) continue;
                          const Destination to = g.buffer(i);
                          kernels::gather_strided(joints[i].walk(), dy.data() + joints[i].skip, to.data, to.accumulate);
                        }
                      });
}

GradCases shape_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array cube = sample({2, 3, 4}, 31), flat = sample({2, 6}, 32), other = sample({2, 2, 4}, 33);
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
  };
}

}  // namespace xtape::inline XTAPE_FLAVOUR
