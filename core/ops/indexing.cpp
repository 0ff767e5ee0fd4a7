#include <xtape/core/error.hpp>
#include <xtape/core/kernels/indexing.hpp>
#include <xtape/core/ops/indexing.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>

namespace xtape::inline XTAPE_DTYPE {

Tensor embedding(const Tensor& weight, const IndexArray& ids, index_t padding_index) {
  if (weight.rank() != 2) throw ShapeError("embedding", "a weight [V, D]", weight.shape());
  const index_t vocabulary = weight.size(0), width = weight.size(1);
  if (padding_index != kNoPaddingIndex) check_index("embedding", "padding rows", padding_index, 0, vocabulary - 1);
  for (index_t id : ids) check_index("embedding", "ids", id, 0, vocabulary - 1);
  Shape shape = ids.shape();
  shape.push_back(width);
  element_count(shape, "embedding");
  Array y = empty_array(shape);
  kernels::take_rows(weight.data(), ids.data(), numel(ids), width, y.data());
  return Tape::record(
      "embedding", {weight}, Tensor(std::move(y)), [ids, padding_index, width](const Array& dy, Grads& g) {
        kernels::add_rows(dy.data(), ids.data(), numel(ids), width, padding_index, g.cleared_buffer(0).data);
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
  const index_t at = normalize_axis_or_scalar(op, axis, shape);
  const AxisSizes along = around_axis(shape, at);
  const Shape indices = index.shape();
  bool fits = indices.rank() == shape.rank();
  for (index_t i = 0; fits && i < shape.rank(); ++i) fits = i == at || indices[i] <= shape[i];
  if (!fits)
    throw ShapeError(op, "an index within " + shape_text(shape) + " except along axis " + std::to_string(at), indices);
  for (index_t i : index) check_index(op, "indices", i, 0, along.count - 1);
  IndexedLoop p{loop_over(op, indices), along.inner};
  for (index_t i = 0; i < shape.rank(); ++i) p.loop.stride[i] = i == at ? 0 : around_axis(shape, i).inner;
  return p;
}

}  // namespace

Tensor gather(const Tensor& x, index_t axis, const IndexArray& index) {
  const IndexedLoop p = indexed_loop("gather", x.shape(), axis, index);
  Array y = empty_array(index.shape());
  kernels::gather_at(p.loop, index.data(), p.step, x.data(), {y.data()});
  return Tape::record("gather", {x}, Tensor(std::move(y)), [p, index](const Array& dy, Grads& g) {
    kernels::scatter_add_at(p.loop, index.data(), p.step, dy.data(), g.cleared_buffer(0).data);
  });
}

Tensor scatter_add(const Tensor& x, index_t axis, const IndexArray& index, const Tensor& source) {
  const IndexedLoop p = indexed_loop("scatter_add", x.shape(), axis, index);
  check_shape("scatter_add", "a source", source.shape(), index.shape());
  Array y = x.value();
  kernels::scatter_add_at(p.loop, index.data(), p.step, source.data(), y.data());
  return Tape::record("scatter_add", {x, source}, Tensor(std::move(y)), [p, index](const Array& dy, Grads& g) {
    if (g.needs(1)) kernels::gather_at(p.loop, index.data(), p.step, dy.data(), g.buffer(1));
    g.pass(0);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE
