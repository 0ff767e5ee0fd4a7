// Reference arrays in double with plain loops, independent of the library's own code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace xtape::fuzz {

using Dimensions = std::vector<std::int64_t>;
using Index = std::vector<std::int64_t>;

/// Elements in row-major order.
struct Plain {
  Dimensions shape;
  std::vector<double> values;

  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  /// The element at an index of a larger shape to which this shape broadcasts: leading axes are missing, sizes of 1
  /// repeat.
  double at(const Index& index) const;
};

std::int64_t count_of(const Dimensions& shape);
/// Calls f for every index of a shape, in row-major order.
void for_each(const Dimensions& shape, const std::function<void(const Index&)>& f);
/// An array whose element at each index is f(index).
Plain plain(const Dimensions& shape, const std::function<double(const Index&)>& f);

/// The broadcast shape by NumPy's rules, or nothing.
std::optional<Dimensions> broadcast(const Dimensions& a, const Dimensions& b);
/// Converts an axis in -rank..rank-1 to 0..rank-1; nothing for other axes.
std::optional<std::int64_t> axis_of(std::int64_t axis, std::int64_t rank);
/// Like axis_of, for ops that treat a scalar as one element: axis -1 or 0 of a scalar gives 0.
std::optional<std::int64_t> named_axis_of(std::int64_t axis, std::int64_t rank);
/// True for each axis that is listed, all if the list is empty; nothing if an axis does not exist or is listed twice.
std::optional<std::vector<bool>> axes_of(const Dimensions& axes, std::int64_t rank);

/// x itself, or for a scalar a vector of one element.
Plain as_line(Plain x);

/// Applies f to the elements of each group along the axes. The axes are dropped, or kept with size 1.
Plain reduce(const Plain& x, const std::vector<bool>& axes, bool keep,
             const std::function<double(const std::vector<double>&)>& f);

/// Choices determined by the bytes of an input; 0 when they are used up.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  std::int64_t below(std::int64_t bound);                    ///< 0..bound-1
  std::int64_t within(std::int64_t low, std::int64_t high);  ///< low..high
  bool yes() { return below(2) == 1; }

  /// A shape of up to 4 axes and 2000 elements.
  Dimensions shape();
  /// A shape with this number of axes.
  Dimensions shape_of(std::int64_t rank);
  /// A shape that may broadcast with `shape`: the same, or with axes dropped, set to 1, or changed.
  Dimensions like(Dimensions shape);
  /// An axis that exists in most cases.
  std::int64_t axis(std::int64_t rank);
  /// `size` in most cases, else a random size.
  std::int64_t mostly(std::int64_t size) { return below(16) == 1 ? within(0, 3) : size; }
  /// Some axes, most of them valid.
  Dimensions axes(std::int64_t rank);
  /// Numbers from -2 to 2 in steps of 1/8, so that some are equal.
  Plain numbers(const Dimensions& shape);

 private:
  std::string_view bytes_;
  std::uint64_t state_ = 1;  // state of the generator of numbers
};

}  // namespace xtape::fuzz
