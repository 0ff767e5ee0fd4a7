// Shape: the sizes of an array's axes, and arithmetic on them: element counts with overflow checks, negative axes,
// broadcasting. The only place where sizes change between index_t and xtensor's unsigned type.
#pragma once

#include <xtape/core/array.hpp>
#include <xtape/core/error.hpp>

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <vector>

namespace xtape {

using UnsignedSizes = xt::dynamic_shape<std::size_t>;  ///< xtensor's own type of shapes

/// Sizes of the axes, outermost first; a scalar has none. Memory is allocated for more than 6 axes only.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<index_t> sizes) : Shape(sizes.begin(), sizes.end()) {}
  template <std::input_iterator Iterator>
  Shape(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(static_cast<index_t>(*first));
  }
  Shape(const UnsignedSizes& sizes) : Shape(sizes.begin(), sizes.end()) {}  ///< of an array

  /// As xtensor takes it. Throws ShapeError for a negative size.
  UnsignedSizes unsigned_sizes() const;

  index_t rank() const { return rank_; }
  index_t operator[](index_t axis) const { return begin()[axis]; }
  index_t& operator[](index_t axis) { return begin()[axis]; }
  index_t back() const { return end()[-1]; }
  index_t& back() { return end()[-1]; }
  const index_t* begin() const { return rank_ > kFew ? many_.data() : few_; }
  const index_t* end() const { return begin() + rank_; }
  index_t* begin() { return rank_ > kFew ? many_.data() : few_; }
  index_t* end() { return begin() + rank_; }
  void push_back(index_t size) {
    if (rank_ < kFew) few_[rank_] = size;
    else push_back_many(size);
    ++rank_;
  }

  template <class Sizes>  // also UnsignedSizes
  bool operator==(const Sizes& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  static constexpr index_t kFew = 6;

  void push_back_many(index_t size);

  index_t rank_ = 0;
  index_t few_[kFew] = {};
  std::vector<index_t> many_;  // all sizes, if there are more
};

using Axes = std::vector<index_t>;  ///< axis numbers; negative ones count from the end

/// The shape of an array, whose own `x.shape()` is unsigned.
template <class AnyArray>
Shape shape_of(const AnyArray& x) {
  return x.shape();
}

/// The number of elements of an array.
template <class AnyArray>
index_t numel(const AnyArray& x) {
  return static_cast<index_t>(x.size());
}

/// The number of elements. Throws ShapeError if it is above 2^46 or a size is negative.
index_t element_count(const Shape& shape, std::string_view op = "shape");

/// The axis in 0..rank-1 for an axis in -rank..rank-1. Throws ShapeError for any other.
index_t normalize_axis(std::string_view op, index_t axis, const Shape& shape);

/// Like normalize_axis, but also accepts axis 0 or -1 of a scalar and returns 0, as PyTorch does. For ops that treat a
/// scalar as one element.
index_t normalize_axis_or_scalar(std::string_view op, index_t axis, const Shape& shape);

/// The axes, sorted; an empty list means every axis. For a scalar the result is empty, also if axis 0 or -1 is given.
/// Throws ShapeError for an axis that does not exist or occurs twice.
Axes normalize_axes(std::string_view op, const Axes& axes, const Shape& shape);

/// `shape` with another axis of `size` inserted as axis `axis` of the result, -rank-1..rank. Throws ShapeError.
Shape insert_axis(std::string_view op, const Shape& shape, index_t axis, index_t size);

/// The shape to which two operands broadcast, as in NumPy. Throws ShapeError.
Shape broadcast_shape(std::string_view op, const Shape& a, const Shape& b);

/// `wanted`, its one -1 replaced so that it has as many elements as `from`. Throws ShapeError if that is impossible.
Shape infer_shape(std::string_view op, const Shape& wanted, const Shape& from);

/// A shape seen as outer x count x inner, where count is the size of one axis; 1 x 1 x 1 for a scalar.
struct AxisSizes {
  index_t outer, count, inner;
};
AxisSizes around_axis(const Shape& shape, index_t axis);

/// Throws ShapeError "expected `what` of shape (2,3), got (3)" unless the shapes are equal.
void check_shape(std::string_view op, std::string_view what, const Shape& shape, const Shape& expected);

inline namespace XTAPE_DTYPE {

/// An array whose elements are not initialized: `empty_array({n, 2})`, or `empty_array<Mask>({n, 2})` of another type.
/// Throws ShapeError for a negative size.
template <class AnyArray = Array>
AnyArray empty_array(const Shape& shape) {
  return AnyArray(shape.unsigned_sizes());
}
template <class AnyArray = Array, std::same_as<UnsignedSizes> Sizes>
AnyArray empty_array(const Sizes& sizes_of_array) {
  return AnyArray(sizes_of_array);
}

/// The same with all elements set to `value`.
template <class AnyArray = Array>
AnyArray full_array(const Shape& shape, typename AnyArray::value_type value) {
  return AnyArray(shape.unsigned_sizes(), value);
}

}  // namespace XTAPE_DTYPE

}  // namespace xtape
