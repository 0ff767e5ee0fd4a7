// Arithmetic on shapes: sizes with overflow checks, axes counted from the end, broadcasting.
#pragma once

#include <xtape/core/array.hpp>
#include <xtape/core/error.hpp>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace xtape {

using Axes = std::vector<index_t>;  ///< axis numbers; negative ones count from the end

inline Shape shape_of(std::initializer_list<index_t> sizes) { return Shape(sizes.begin(), sizes.end()); }

/// Number of elements. Throws ShapeError when it cannot be held (product over 2^46 elements).
index_t element_count(const Shape& shape, std::string_view op = "shape");

/// Axis in 0..rank-1 for an axis in -rank..rank-1. Throws ShapeError.
std::size_t normalize_axis(std::string_view op, index_t axis, const Shape& shape);

/// The same, where a scalar has one axis in name: -1 and 0 name it and give 0, as in PyTorch. For ops along an axis
/// that take a scalar for a single element. Throws ShapeError.
std::size_t normalize_axis_or_scalar(std::string_view op, index_t axis, const Shape& shape);

/// The axes as a sorted list without repeats; an empty list means every axis. A scalar's is empty, whether its axis in
/// name is named or not. Throws ShapeError on a repeat.
std::vector<std::size_t> normalize_axes(std::string_view op, const Axes& axes, const Shape& shape);

/// Shape of two broadcast operands by numpy's rule. Throws ShapeError.
Shape broadcast_shape(std::string_view op, const Shape& a, const Shape& b);

/// A shape with one -1 filled in so that `count` elements fit. Throws ShapeError.
Shape infer_shape(std::string_view op, const Axes& wanted, const Shape& from);

/// A shape as outer x count x inner, where count is the extent of one axis; 1 x 1 x 1 for a scalar's axis in name.
struct AxisSizes {
  index_t outer, count, inner;
};
AxisSizes around_axis(const Shape& shape, std::size_t axis);

bool same_shape(const Shape& a, const Shape& b);

}  // namespace xtape
