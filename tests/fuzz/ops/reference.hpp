// Arrays in double with plain loops: what the ops are compared with. Slow, and free of the library's own code.
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

/// Numbers in row-major order.
struct Plain {
  Dimensions shape;
  std::vector<double> values;

  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
  /// Element at an index of a shape that this one broadcasts to: leading axes are missing, extents of 1 repeat.
  double at(const Index& index) const;
};

std::int64_t count_of(const Dimensions& shape);
/// Every index of a shape, in row-major order.
void for_each(const Dimensions& shape, const std::function<void(const Index&)>& f);
/// An array whose element at each index is f(index).
Plain plain(const Dimensions& shape, const std::function<double(const Index&)>& f);

/// By numpy's rule, or nothing.
std::optional<Dimensions> broadcast(const Dimensions& a, const Dimensions& b);
/// 0..rank-1 of an axis in -rank..rank-1, or nothing.
std::optional<std::int64_t> axis_of(std::int64_t axis, std::int64_t rank);
/// The same for ops that take a scalar for one element: its axis in name is -1 or 0, and gives 0.
std::optional<std::int64_t> named_axis_of(std::int64_t axis, std::int64_t rank);
/// True for each axis that is named, all if none is; nothing if one does not exist or is named twice.
std::optional<std::vector<bool>> axes_of(const Dimensions& axes, std::int64_t rank);

/// x itself, or a scalar as a vector of one element.
Plain as_line(Plain x);

/// f over the elements of each group along axes, which are dropped or kept with extent 1.
Plain reduce(const Plain& x, const std::vector<bool>& axes, bool keep,
             const std::function<double(const std::vector<double>&)>& f);

/// Choices made by the bytes of an input; 0 once they are used up.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  std::int64_t below(std::int64_t bound);                    ///< 0..bound-1
  std::int64_t within(std::int64_t low, std::int64_t high);  ///< low..high
  bool yes() { return below(2) == 1; }

  /// A shape of up to 4 axes and 2000 elements.
  Dimensions shape();
  /// One of so many axes.
  Dimensions shape_of(std::int64_t rank);
  /// Another one that may fit it: the same, or with axes dropped, of extent 1, or changed.
  Dimensions like(Dimensions shape);
  /// An axis that mostly exists.
  std::int64_t axis(std::int64_t rank);
  /// Mostly the extent itself.
  std::int64_t mostly(std::int64_t size) { return below(16) == 1 ? within(0, 3) : size; }
  /// Some axes, mostly of those that exist.
  Dimensions axes(std::int64_t rank);
  /// Numbers from -2 to 2 in steps of 1/8, so that some are equal.
  Plain numbers(const Dimensions& shape);

 private:
  std::string_view bytes_;
  std::uint64_t state_ = 1;  // of the numbers
};

}  // namespace xtape::fuzz
