#include <xtape/core/error.hpp>
#include <xtape/core/shape.hpp>
#include <xtape/nn/positional.hpp>

#include <cmath>

namespace xtape::inline XTAPE_FLAVOUR {

Array sinusoidal_positions(index_t length, index_t width) {
  if (length < 1 || width < 1)
    throw ValueError("sinusoidal_positions",
                     "sizes must be at least 1, not " + std::to_string(length) + " and " + std::to_string(width));
  Array out(Shape{static_cast<std::size_t>(length), static_cast<std::size_t>(width)});
  for (index_t p = 0; p < length; ++p) {
    for (index_t j = 0; j < width; ++j) {
      const double pair = static_cast<double>(j / 2);
      const double angle = static_cast<double>(p) * std::pow(10000.0, -2 * pair / static_cast<double>(width));
      out.data()[p * width + j] = static_cast<real>(j % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return out;
}

}  // namespace xtape::inline XTAPE_FLAVOUR
