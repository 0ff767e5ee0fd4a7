// Arithmetic on shapes: element counts with overflow checks, negative axes, broadcasting.
#pragma once

#include <xtape/core/array.hpp>
#include <xtape/core/error.hpp>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace xtape {

using Axes = std::vector<index_t>;  ///< axis numbers; negative ones count from the end

inline Shape shape_of(std::initializer_list<index_t> sizes) { return Shape(sizes.begin(), sizes.end()); }

/// The number of elements. Throws ShapeError if it is above 2^46.
index_t element_count(const Shape& shape, std::string_view op = "shape");

/// The axis in 0..rank-1 for an axis in -rank..rank-1. Throws ShapeError for any other.
std::size_t normalize_axis(std::string_view op, index_t axis, const Shape& shape);

/// Like normalize_axis, but also accepts axis 0 or -1 of a scalar and returns 0, as PyTorch does. For ops that treat a
/// scalar as one element.
std::size_t normalize_axis_or_scalar(std::string_view op, index_t axis, const Shape& shape);

/// The axes, sorted; an empty list means every axis. For a scalar the result is empty, also if axis 0 or -1 is given.
/// Throws ShapeError for an axis that does not exist or occurs twice.
std::vector<std::size_t> normalize_axes(std::string_view op, const Axes& axes, const Shape& shape);

/// `shape` with another axis of `size` inserted as axis `axis` of the result, -rank-1..rank. Throws ShapeError.
Shape insert_axis(std::string_view op, const Shape& shape, index_t axis, std::size_t size);

/// The shape to which two operands broadcast, as in NumPy. Throws ShapeError.
Shape broadcast_shape(std::string_view op, const Shape& a, const Shape& b);

/// `wanted`, its one -1 replaced so that it has as many elements as `from`. Throws ShapeError if that is impossible.
Shape infer_shape(std::string_view op, const Axes& wanted, const Shape& from);

/// A shape seen as outer x count x inner, where count is the size of one axis; 1 x 1 x 1 for a scalar.
struct AxisSizes {
  index_t outer, count, inner;
};
AxisSizes around_axis(const Shape& shape, std::size_t axis);

bool same_shape(const Shape& a, const Shape& b);

/// Throws ShapeError "expected `what` of shape (2,3), got (3)" unless the shapes are equal.
void check_shape(std::string_view op, std::string_view what, const Shape& shape, const Shape& expected);

}  // namespace xtape
