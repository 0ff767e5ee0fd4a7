#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/ops/extremes.hpp>
#include <xtape/core/ops/internal/reduce_rows.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

ReductionRows nonempty_rows(const char* op, const Tensor& x, const Axes& axes, bool keep_dims) {
  const ReductionRows r = reduced_axes_last(op, x, axes, keep_dims);
  if (r.width == 0) fail_shapes<Shape>(op, "no elements have no largest or smallest", {x.shape()});
  return r;
}

Tensor extreme(const char* op, bool largest, const Tensor& x, const Axes& axes, bool keep_dims) {
  const ReductionRows r = nonempty_rows(op, x, axes, keep_dims);
  Array out(r.shape);
  kernels::row_max_min(r.x.data(), largest, out.data(), r.rows, r.width);
  const Tensor y(std::move(out));
  return Tape::record(op, {r.x}, y, [x = r.x.detach(), y, rows = r.rows, width = r.width](const Array& dy, Grads& g) {
    const Output dx = g.buffer(0);
    kernels::max_min_backward(x.data(), y.data(), dy.data(), dx.data, dx.add, rows, width);
  });
}

IndexArray position(const char* caller, bool largest, const Tensor& x, index_t axis, bool keep_dims) {
  const ReductionRows r = nonempty_rows(caller, x.detach(), {axis}, keep_dims);
  Array values(r.shape);
  kernels::row_max_min(r.x.data(), largest, values.data(), r.rows, r.width);
  IndexArray positions(r.shape);
  kernels::argument_of(r.x.data(), values.data(), positions.data(), r.rows, r.width);
  return positions;
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, bool keep_dims) { return extreme("max", true, x, axes, keep_dims); }
Tensor min(const Tensor& x, const Axes& axes, bool keep_dims) { return extreme("min", false, x, axes, keep_dims); }

IndexArray argmax(const Tensor& x, index_t axis, bool keep_dims) {
  return position("argmax", true, x, axis, keep_dims);
}
IndexArray argmin(const Tensor& x, index_t axis, bool keep_dims) {
  return position("argmin", false, x, axis, keep_dims);
}

GradCases extremes_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array x = sample({2, 3, 4}, 111), wide = sample({2, 37}, 112);
  return {
      {"max", "all", {x}, [](Args a) { return max(a[0]); }},
      {"max", "first axis", {x}, [](Args a) { return max(a[0], {0}); }},
      {"max",
       "first and last, kept",
       {x},
       [](Args a) {
         return max(a[0], {0, -1}, true);
       }},
      {"max", "wider than the lanes", {wide}, [](Args a) { return max(a[0], {1}); }},
      {"min", "last axis, kept", {x}, [](Args a) { return min(a[0], {-1}, true); }},
      {"min", "middle axis", {x}, [](Args a) { return min(a[0], {1}); }},
      {"min", "wider than the lanes", {wide}, [](Args a) { return min(a[0], {1}); }},
  };
}

}  // namespace xtape::inline XTAPE_DTYPE
