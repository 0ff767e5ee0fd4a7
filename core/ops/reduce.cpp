#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/reduce.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// A run of adjacent axes to be summed, as outer x count x inner.
struct Group {
  std::size_t first, last;
};

std::vector<Group> groups_of(const std::vector<std::size_t>& axes) {
  std::vector<Group> groups;
  for (std::size_t axis : axes) {
    if (!groups.empty() && groups.back().last + 1 == axis) groups.back().last = axis;
    else groups.push_back({axis, axis});
  }
  return groups;
}

Array sum_group(const Array& x, Group group) {
  index_t outer = 1, count = 1, inner = 1;
  Shape shape = x.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<index_t>(shape[i]);
    (i < group.first ? outer : i <= group.last ? count : inner) *= size;
    if (i >= group.first && i <= group.last) shape[i] = 1;
  }
  Array y(shape);
  kernels::sum_axis(x.data(), outer, count, inner, 1, y.data(), false);
  return y;
}

Tensor sum_over(const Tensor& x, const std::vector<std::size_t>& axes, bool keep_dims) {
  if (x.rank() > static_cast<std::size_t>(kernels::kMaxRank))
    fail_shapes<Shape>("sum", "at most 12 axes can be reduced", {x.shape()});
  const std::vector<Group> groups = groups_of(axes);
  Array y = groups.empty() ? x.value() : sum_group(x.value(), groups[0]);
  for (std::size_t i = 1; i < groups.size(); ++i) y = sum_group(y, groups[i]);
  const Shape kept = y.shape();
  if (!keep_dims) {
    Shape dropped;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) dropped.push_back(kept[i]);
    y.reshape(dropped);
  }
  const Shape shape = x.shape();
  // The upstream gradient goes to every summed element.
  return Tape::record("sum", {x}, Tensor(std::move(y)), [shape, kept](const Array& dy, Grads& g) {
    kernels::StridedLoop loop;
    loop.rank = static_cast<int>(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) loop.size[i] = static_cast<index_t>(shape[i]);
    broadcast_strides(kept, shape.size(), loop.stride);
    const Output dx = g.buffer(0);
    if (shape.empty()) loop.rank = loop.size[0] = 1;
    kernels::copy_from_strided(loop, dy.data(), dx.data, dx.add);
  });
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keep_dims) {
  return sum_over(x, normalize_axes("sum", axes, x.shape()), keep_dims);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keep_dims) {
  const std::vector<std::size_t> over = normalize_axes("mean", axes, x.shape());
  index_t count = 1;
  for (std::size_t axis : over) count *= static_cast<index_t>(x.shape()[axis]);
  if (count == 0) fail_shapes<Shape>("mean", "the mean of no elements is not defined", {x.shape()});
  const Tensor total = sum_over(x, over, keep_dims);
  Array y(total.shape());
  const real scale = static_cast<real>(1.0 / static_cast<double>(count));
  kernels::scaled(total.data(), scale, y.data(), false, count_of(y));
  return Tape::record("mean", {total}, Tensor(std::move(y)),
                      [scale](const Array& dy, Grads& g) { g.add(0, dy, scale); });
}

Tensor cumsum(const Tensor& x, index_t axis) {
  const std::size_t at = normalize_axis_or_scalar("cumsum", axis, x.shape());
  const AxisSizes along = around_axis(x.shape(), at);
  Array y(x.shape());
  kernels::cumulative_sum(x.data(), along.outer, along.count, along.inner, false, y.data(), false);
  return Tape::record("cumsum", {x}, Tensor(std::move(y)), [along](const Array& dy, Grads& g) {
    const Output dx = g.buffer(0);  // x[k] went into every y[j] with j >= k
    kernels::cumulative_sum(dy.data(), along.outer, along.count, along.inner, true, dx.data, dx.add);
  });
}

GradCases reduce_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 3, 4}, 41);
  return {
      {"sum", "all", {x}, [](Args a) { return sum(a[0]); }},
      {"sum", "first axis", {x}, [](Args a) { return sum(a[0], {0}); }},
      {"sum", "last axis, kept", {x}, [](Args a) { return sum(a[0], {-1}, true); }},
      {"sum",
       "first and last",
       {x},
       [](Args a) {
         return sum(a[0], {0, 2});
       }},
      {"mean", "all", {x}, [](Args a) { return mean(a[0]); }},
      {"mean", "middle axis", {x}, [](Args a) { return mean(a[0], {1}); }},
      {"cumsum", "middle axis", {x}, [](Args a) { return cumsum(a[0], 1); }},
      {"cumsum", "last axis", {x}, [](Args a) { return cumsum(a[0], -1); }},
  };
}

}  // namespace xtape::inline XTAPE_DTYPE
