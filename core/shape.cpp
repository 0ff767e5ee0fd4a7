#include <xtape/core/error.hpp>
#include <xtape/core/shape.hpp>

#include <algorithm>

namespace xtape {

namespace {
constexpr index_t kMaxElements = index_t{1} << 46;
}

index_t element_count(const Shape& shape, std::string_view op) {
  for (std::size_t size : shape)
    if (size == 0) return 0;
  index_t count = 1;
  for (std::size_t size : shape) {
    if (size > static_cast<std::size_t>(kMaxElements) || count > kMaxElements / static_cast<index_t>(size))
      throw ShapeError(op, "at most 2^46 elements", shape);
    count *= static_cast<index_t>(size);
  }
  return count;
}

std::size_t normalize_axis(std::string_view op, index_t axis, const Shape& shape) {
  const auto rank = static_cast<index_t>(shape.size());
  if (axis < -rank || axis >= rank) throw ShapeError(op, "an axis of shape " + shape_text(shape), axis);
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::size_t normalize_axis_or_scalar(std::string_view op, index_t axis, const Shape& shape) {
  if (shape.empty() && (axis == 0 || axis == -1)) return 0;
  return normalize_axis(op, axis, shape);
}

std::vector<std::size_t> normalize_axes(std::string_view op, const Axes& axes, const Shape& shape) {
  std::vector<std::size_t> out;
  if (axes.empty())
    for (std::size_t i = 0; i < shape.size(); ++i) out.push_back(i);
  for (index_t axis : axes) out.push_back(normalize_axis_or_scalar(op, axis, shape));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    throw ShapeError(op, "different axes of shape " + shape_text(shape), axes);
  if (shape.empty()) out.clear();
  return out;
}

Shape insert_axis(std::string_view op, const Shape& shape, index_t axis, std::size_t size) {
  const auto rank = static_cast<index_t>(shape.size());
  if (axis < -rank - 1 || axis > rank)
    throw ShapeError(op, "a place for a further axis of shape " + shape_text(shape), axis);
  const auto at = axis < 0 ? axis + rank + 1 : axis;
  Shape out(shape.begin(), shape.begin() + at);
  out.push_back(size);
  out.insert(out.end(), shape.begin() + at, shape.end());
  return out;
}

Shape broadcast_shape(std::string_view op, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const std::size_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1) throw ShapeError(op, "shapes that broadcast", a, b);
    out[i] = x == 1 ? y : x;
  }
  element_count(out, op);
  return out;
}

Shape infer_shape(std::string_view op, const Axes& wanted, const Shape& from) {
  const index_t count = element_count(from, op);
  Shape out(wanted.size());
  std::size_t unknown = wanted.size();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -1 || (wanted[i] == -1 && unknown != wanted.size()))
      throw ShapeError(op, "sizes of at least 0, or once -1", wanted);
    if (wanted[i] == -1) unknown = i;
    out[i] = wanted[i] == -1 ? 1 : static_cast<std::size_t>(wanted[i]);
  }
  const index_t known = element_count(out, op);
  const bool infers = unknown != wanted.size();
  if (infers ? known == 0 || count % known != 0 : known != count)
    throw ShapeError(op, "a shape with the " + std::to_string(count) + " elements of " + shape_text(from), wanted);
  if (infers) out[unknown] = static_cast<std::size_t>(count / known);
  return out;
}

AxisSizes around_axis(const Shape& shape, std::size_t axis) {
  AxisSizes out{1, shape.empty() ? 1 : static_cast<index_t>(shape[axis]), 1};
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i != axis) (i < axis ? out.outer : out.inner) *= static_cast<index_t>(shape[i]);
  return out;
}

bool same_shape(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

void check_shape(std::string_view op, std::string_view what, const Shape& shape, const Shape& expected) {
  if (!same_shape(shape, expected))
    throw ShapeError(op, std::string(what) + " of shape " + shape_text(expected), shape);
}

}  // namespace xtape
