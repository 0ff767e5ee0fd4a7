#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/indexing.hpp>
#include <xtape/core/ops/indexing.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>

namespace xtape::inline XTAPE_DTYPE {

Tensor embedding(const Tensor& weight, const IndexArray& ids, index_t padding_index) {
  if (weight.rank() != 2) fail_shapes<Shape>("embedding", "the weight must be a matrix", {weight.shape()});
  const index_t vocabulary = weight.size(0), width = weight.size(1);
  if (padding_index != kNoPaddingIndex && (padding_index < 0 || padding_index >= vocabulary))
    throw IndexError("embedding", "the padding row " + std::to_string(padding_index) + " is outside 0.." +
                                      std::to_string(vocabulary - 1));
  if (vocabulary == 0 && ids.size() > 0) throw IndexError("embedding", "the weight is empty, so that it has no id");
  for (index_t id : ids)
    if (id < 0 || id >= vocabulary)
      throw IndexError("embedding", "id " + std::to_string(id) + " is outside 0.." + std::to_string(vocabulary - 1));
  Shape shape(ids.shape().begin(), ids.shape().end());
  shape.push_back(static_cast<std::size_t>(width));
  element_count(shape, "embedding");
  Array y(shape);
  kernels::take_rows(weight.data(), ids.data(), static_cast<index_t>(ids.size()), width, y.data());
  return Tape::record("embedding", {weight}, Tensor(std::move(y)),
                      [ids, padding_index, width](const Array& dy, Grads& g) {
                        kernels::add_rows(dy.data(), ids.data(), static_cast<index_t>(ids.size()), width, padding_index,
                                          g.cleared_buffer(0).data);
                      });
}

namespace {

/// How an index reads an operand: `loop` visits the elements of the index, `step` is the stride along the axis.
struct IndexedLoop {
  kernels::StridedLoop loop;
  index_t step;
};

/// Throws ShapeError or IndexError.
IndexedLoop indexed_loop(const char* op, const Shape& shape, index_t axis, const IndexArray& index) {
  const std::size_t at = normalize_axis_or_scalar(op, axis, shape);
  const AxisSizes along = around_axis(shape, at);
  bool fits = index.dimension() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = i == at || index.shape()[i] <= shape[i];
  if (!fits)
    fail_shapes<Shape>(
        op, "the index must have the tensor's axes, and no larger sizes except along axis " + std::to_string(at),
        {shape, index.shape()});
  if (along.count == 0 && index.size() > 0)
    throw IndexError(op, "axis " + std::to_string(at) + " is empty, so that it has no index");
  for (index_t i : index)
    if (i < 0 || i >= along.count)
      throw IndexError(op, "index " + std::to_string(i) + " is outside 0.." + std::to_string(along.count - 1));
  IndexedLoop p{loop_over(op, Shape(index.shape().begin(), index.shape().end())), along.inner};
  for (std::size_t i = 0; i < shape.size(); ++i) p.loop.stride[i] = i == at ? 0 : around_axis(shape, i).inner;
  return p;
}

}  // namespace

Tensor gather(const Tensor& x, index_t axis, const IndexArray& index) {
  const IndexedLoop p = indexed_loop("gather", x.shape(), axis, index);
  Array y(index.shape());
  kernels::gather_at(p.loop, index.data(), p.step, x.data(), {y.data()});
  return Tape::record("gather", {x}, Tensor(std::move(y)), [p, index](const Array& dy, Grads& g) {
    kernels::scatter_add_at(p.loop, index.data(), p.step, dy.data(), g.cleared_buffer(0).data);
  });
}

Tensor scatter_add(const Tensor& x, index_t axis, const IndexArray& index, const Tensor& source) {
  const IndexedLoop p = indexed_loop("scatter_add", x.shape(), axis, index);
  if (!same_shape(source.shape(), index.shape()))
    fail_shapes<Shape>("scatter_add", "source and index must have one shape", {source.shape(), index.shape()});
  Array y = x.value();
  kernels::scatter_add_at(p.loop, index.data(), p.step, source.data(), y.data());
  return Tape::record("scatter_add", {x, source}, Tensor(std::move(y)), [p, index](const Array& dy, Grads& g) {
    if (g.needs(1)) kernels::gather_at(p.loop, index.data(), p.step, dy.data(), g.buffer(1));
    g.pass(0);
  });
}

GradCases indexing_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array weight = sample({5, 3}, 71);
  const Array source = sample({3, 2}, 72), cube = sample({2, 3, 4}, 73), cube2 = sample({2, 3, 4}, 74);
  const IndexArray columns = {{0, 2, 2, 1}, {1, 1, 1, 1}, {2, 0, 1, 0}, {0, 0, 0, 0}, {2, 1, 2, 1}};
  const IndexArray rows = {{4, 0}, {4, 1}, {2, 0}};
  const IndexArray middle = {{{0, 2, 1, 1}, {2, 2, 0, 0}}, {{1, 1, 1, 1}, {1, 0, 2, 0}}};
  const IndexArray middle2 = {{{0, 2, 1, 1}, {2, 2, 0, 0}, {0, 1, 1, 1}}, {{1, 1, 1, 1}, {1, 0, 2, 0}, {2, 2, 2, 2}}};
  const IndexArray ids = {{0, 1, 1, 4}, {2, 1, 0, 0}};
  return {
      {"embedding", "repeated rows", {weight}, [ids](Args a) { return embedding(a[0], ids); }},
      {"gather", "along the last axis, repeated", {weight}, [columns](Args a) { return gather(a[0], 1, columns); }},
      {"gather", "along the first axis, fewer columns", {weight}, [rows](Args a) { return gather(a[0], 0, rows); }},
      {"gather", "middle axis", {cube}, [middle](Args a) { return gather(a[0], -2, middle); }},
      {"scatter_add", "repeated", {weight, source}, [rows](Args a) { return scatter_add(a[0], 0, rows, a[1]); }},
      {"scatter_add", "middle axis", {cube, cube2}, [middle2](Args a) { return scatter_add(a[0], 1, middle2, a[1]); }},
  };
}

}  // namespace xtape::inline XTAPE_DTYPE
