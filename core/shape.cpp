#include <xtape/core/error.hpp>
#include <xtape/core/shape.hpp>

#include <algorithm>

namespace xtape {

namespace {
constexpr index_t kMaxElements = index_t{1} << 46;
}

void Shape::push_back_many(index_t size) {
  if (rank_ == kFew) many_.assign(few_, few_ + kFew);
  many_.push_back(size);
}

UnsignedSizes Shape::unsigned_sizes() const {
  for (index_t size : *this)
    if (size < 0) throw ShapeError("shape", "sizes of at least 0", *this);
  return {begin(), end()};
}

index_t element_count(const Shape& shape, std::string_view op) {
  index_t count = 1;
  bool fits = true, zero = false;
  for (index_t size : shape) {
    if (size < 0) throw ShapeError(op, "sizes of at least 0", shape);
    zero = zero || size == 0;
    fits = fits && !__builtin_mul_overflow(count, size, &count) && count <= kMaxElements;
  }
  if (!fits && !zero) throw ShapeError(op, "at most 2^46 elements", shape);
  return zero ? 0 : count;
}

index_t normalize_axis(std::string_view op, index_t axis, const Shape& shape) {
  const index_t rank = shape.rank();
  if (axis < -rank || axis >= rank) throw ShapeError(op, "an axis of shape " + shape_text(shape), axis);
  return axis < 0 ? axis + rank : axis;
}

index_t normalize_axis_or_scalar(std::string_view op, index_t axis, const Shape& shape) {
  if (shape.rank() == 0 && (axis == 0 || axis == -1)) return 0;
  return normalize_axis(op, axis, shape);
}

Axes normalize_axes(std::string_view op, const Axes& axes, const Shape& shape) {
  Axes out;
  if (axes.empty())
    for (index_t i = 0; i < shape.rank(); ++i) out.push_back(i);
  for (index_t axis : axes) out.push_back(normalize_axis_or_scalar(op, axis, shape));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    throw ShapeError(op, "different axes of shape " + shape_text(shape), axes);
  if (shape.rank() == 0) out.clear();
  return out;
}

Shape insert_axis(std::string_view op, const Shape& shape, index_t axis, index_t size) {
  const index_t rank = shape.rank();
  if (axis < -rank - 1 || axis > rank)
    throw ShapeError(op, "a place for a further axis of shape " + shape_text(shape), axis);
  const index_t at = axis < 0 ? axis + rank + 1 : axis;
  Shape out(shape.begin(), shape.begin() + at);
  out.push_back(size);
  for (index_t i = at; i < rank; ++i) out.push_back(shape[i]);
  return out;
}

Shape broadcast_shape(std::string_view op, const Shape& a, const Shape& b) {
  Shape out;
  for (index_t i = -std::max(a.rank(), b.rank()); i < 0; ++i) {
    const index_t x = i < -a.rank() ? 1 : a.end()[i], y = i < -b.rank() ? 1 : b.end()[i];
    if (x != y && x != 1 && y != 1) throw ShapeError(op, "shapes that broadcast", a, b);
    out.push_back(x == 1 ? y : x);
  }
  element_count(out, op);
  return out;
}

Shape infer_shape(std::string_view op, const Shape& wanted, const Shape& from) {
  const index_t count = element_count(from, op);
  Shape out = wanted;
  index_t* unknown = nullptr;
  for (index_t& size : out) {
    if (size < -1 || (size == -1 && unknown)) throw ShapeError(op, "sizes of at least 0, or once -1", wanted);
    if (size == -1) unknown = &size, size = 1;
  }
  const index_t known = element_count(out, op);
  if (unknown ? known == 0 || count % known != 0 : known != count)
    throw ShapeError(op, "a shape with the " + std::to_string(count) + " elements of " + shape_text(from), wanted);
  if (unknown) *unknown = count / known;
  return out;
}

AxisSizes around_axis(const Shape& shape, index_t axis) {
  AxisSizes out{1, shape.rank() == 0 ? 1 : shape[axis], 1};
  for (index_t i = 0; i < shape.rank(); ++i)
    if (i != axis) (i < axis ? out.outer : out.inner) *= shape[i];
  return out;
}

void check_shape(std::string_view op, std::string_view what, const Shape& shape, const Shape& expected) {
  if (shape != expected) throw ShapeError(op, std::string(what) + " of shape " + shape_text(expected), shape);
}

}  // namespace xtape
