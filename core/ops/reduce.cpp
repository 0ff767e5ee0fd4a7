#include <xtape/core/error.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/internal/reduce_rows.hpp>
#include <xtape/core/ops/reduce.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Adjacent axes that are summed together, as outer x count x inner.
struct Group {
  index_t first, last;
};

std::vector<Group> groups_of(const Axes& axes) {
  std::vector<Group> groups;
  for (index_t axis : axes) {
    if (!groups.empty() && groups.back().last + 1 == axis) groups.back().last = axis;
    else groups.push_back({axis, axis});
  }
  return groups;
}

/// The sum over a group of axes, or the mean.
Array reduce_group(const Array& x, Group group, bool average) {
  index_t outer = 1, count = 1, inner = 1;
  Shape shape = x.shape();
  for (index_t i = 0; i < shape.rank(); ++i) {
    (i < group.first ? outer : i <= group.last ? count : inner) *= shape[i];
    if (i >= group.first && i <= group.last) shape[i] = 1;
  }
  Array y = empty_array(shape);
  kernels::sum_axis(x.data(), outer, count, inner, average ? static_cast<double>(count) : 1, {y.data()});
  return y;
}

/// The sum over groups of axes, one group after the other. If a sum in between leaves the range of the dtype, all axes
/// are summed at once.
Array reduce_groups(const Tensor& x, const Axes& axes, bool average) {
  const std::vector<Group> groups = groups_of(axes);
  Array y = groups.empty() ? x.value() : reduce_group(x.value(), groups[0], average);
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (!average && !kernels::all_finite(y.data(), numel(y))) {
      const ReductionRows r = reduced_axes_last("sum", x.detach(), axes, true);
      y = empty_array(r.shape);
      kernels::sum_axis(r.x.data(), r.rows, r.width, 1, 1, {y.data()});
      break;
    }
    y = reduce_group(y, groups[i], average);
  }
  return y;
}

/// The sum, or the mean over `count` elements.
Tensor sum_or_mean(const char* op, const Tensor& x, const Axes& axes, bool keep_dims, index_t count) {
  check_rank(op, x.shape());
  Array y = reduce_groups(x, axes, count > 1);
  const Shape kept = y.shape();
  if (!keep_dims) {
    Shape dropped;
    for (index_t i = 0; i < kept.rank(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) dropped.push_back(kept[i]);
    y.reshape(dropped.unsigned_sizes());
  }
  // The upstream gradient, divided by the count, goes to every summed element.
  return Tape::record(op, {x}, Tensor(std::move(y)),
                      [op, shape = x.shape(), kept, count](const Array& upstream, Grads& g) {
                        Array share;
                        if (count > 1) {
                          share = empty_array(upstream.shape());
                          const real scale = static_cast<real>(1.0 / static_cast<double>(count));
                          kernels::scaled(upstream.data(), scale, {share.data()}, numel(upstream));
                        }
                        const Array& dy = count > 1 ? share : upstream;
                        kernels::copy_from_strided(broadcast_loop(op, shape, kept), dy.data(), g.buffer(0));
                      });
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keep_dims) {
  return sum_or_mean("sum", x, normalize_axes("sum", axes, x.shape()), keep_dims, 1);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keep_dims) {
  const Axes over = normalize_axes("mean", axes, x.shape());
  index_t count = 1;
  for (index_t axis : over) count *= x.shape()[axis];
  if (count == 0) throw ShapeError("mean", "at least one element to reduce", x.shape());
  return sum_or_mean("mean", x, over, keep_dims, count);
}

Tensor cumsum(const Tensor& x, index_t axis) {
  const index_t at = normalize_axis_or_scalar("cumsum", axis, x.shape());
  const AxisSizes along = around_axis(x.shape(), at);
  Array y = empty_array(x.shape());
  kernels::cumulative_sum(x.data(), along.outer, along.count, along.inner, false, {y.data()});
  return Tape::record("cumsum", {x}, Tensor(std::move(y)), [along](const Array& dy, Grads& g) {
    // x[k] went into every y[j] with j >= k
    kernels::cumulative_sum(dy.data(), along.outer, along.count, along.inner, true, g.buffer(0));
  });
}

namespace {

ReductionRows nonempty_rows(const char* op, const Tensor& x, const Axes& axes, bool keep_dims) {
  ReductionRows r = reduced_axes_last(op, x, axes, keep_dims);
  if (r.width == 0) throw ShapeError(op, "at least one element to reduce", x.shape());
  return r;
}

Tensor max_or_min_over(const char* op, bool largest, const Tensor& x, const Axes& axes, bool keep_dims) {
  const ReductionRows r = nonempty_rows(op, x, axes, keep_dims);
  Array out = empty_array(r.shape);
  kernels::row_max_min(r.x.data(), largest, out.data(), r.rows, r.width);
  const Tensor y(std::move(out));
  return Tape::record(op, {r.x}, y, [x = r.x.detach(), y, rows = r.rows, width = r.width](const Array& dy, Grads& g) {
    kernels::max_min_backward(x.data(), y.data(), dy.data(), g.buffer(0), rows, width);
  });
}

IndexArray arg_max_min(const char* caller, bool largest, const Tensor& x, index_t axis, bool keep_dims) {
  const ReductionRows r = nonempty_rows(caller, x.detach(), {axis}, keep_dims);
  Array values = empty_array(r.shape);
  kernels::row_max_min(r.x.data(), largest, values.data(), r.rows, r.width);
  IndexArray positions = empty_array<IndexArray>(r.shape);
  kernels::argument_of(r.x.data(), values.data(), positions.data(), r.rows, r.width);
  return positions;
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, bool keep_dims) {
  return max_or_min_over("max", true, x, axes, keep_dims);
}
Tensor min(const Tensor& x, const Axes& axes, bool keep_dims) {
  return max_or_min_over("min", false, x, axes, keep_dims);
}

IndexArray argmax(const Tensor& x, index_t axis, bool keep_dims) {
  return arg_max_min("argmax", true, x, axis, keep_dims);
}
IndexArray argmin(const Tensor& x, index_t axis, bool keep_dims) {
  return arg_max_min("argmin", false, x, axis, keep_dims);
}

namespace {

/// The variance, or with `root` the standard deviation.
Tensor variance_or_root(const char* op, bool root, const Tensor& x, const Axes& axes, bool keep_dims,
                        double correction) {
  const ReductionRows r = reduced_axes_last(op, x, axes, keep_dims);
  const double freedom = static_cast<double>(r.width) - correction;
  if (!(correction >= 0)) throw ValueError(op, "a correction of at least 0", correction);
  if (!(freedom > 0))
    throw ValueError(op, "a correction below the number of elements, " + std::to_string(r.width), correction);
  Doubles mean(r.rows), spread(r.rows);
  Array out = empty_array(r.shape);
  kernels::moments(r.x.data(), freedom, root, mean.data(), spread.data(), out.data(), r.rows, r.width);
  const Tensor y(std::move(out));
  if (!root) std::fill(spread.begin(), spread.end(), 1.0);
  // d var / dx = (x - mean) / ((n - c) / 2); d std / dx = (x - mean) / (n - c) / std
  return Tape::record(op, {r.x}, y,
                      [divisor = root ? freedom : freedom / 2, x = r.x.detach(), spread = std::move(spread),
                       mean = std::move(mean), rows = r.rows, width = r.width](const Array& dy, Grads& g) {
                        kernels::subtract_mean(x.data(), mean.data(), dy.data(), divisor, spread.data(), g.buffer(0),
                                               rows, width);
                      });
}

}  // namespace

Tensor var(const Tensor& x, const Axes& axes, bool keep_dims, double correction) {
  return variance_or_root("var", false, x, axes, keep_dims, correction);
}

Tensor stddev(const Tensor& x, const Axes& axes, bool keep_dims, double correction) {
  return variance_or_root("stddev", true, x, axes, keep_dims, correction);
}

Tensor norm(const Tensor& x, const Axes& axes, bool keep_dims) {
  const ReductionRows r = reduced_axes_last("norm", x, axes, keep_dims);
  Doubles length(r.rows);
  Array out = empty_array(r.shape);
  kernels::norms(r.x.data(), length.data(), out.data(), r.rows, r.width);
  const Tensor y(std::move(out));
  // d norm / dx = x / norm
  return Tape::record(
      "norm", {r.x}, y,
      [x = r.x.detach(), length = std::move(length), rows = r.rows, width = r.width](const Array& dy, Grads& g) {
        kernels::subtract_mean(x.data(), nullptr, dy.data(), 1, length.data(), g.buffer(0), rows, width);
      });
}

}  // namespace xtape::inline XTAPE_DTYPE
