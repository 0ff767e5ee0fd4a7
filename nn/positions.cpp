#include <xtape/core/error.hpp>
#include <xtape/core/shape.hpp>
#include <xtape/nn/positions.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

Array sinusoidal_positions(index_t length, index_t width) {
  if (length < 1 || width < 1) throw ValueError("sinusoidal_positions", "sizes of at least 1", length, width);
  Array out = empty_array({length, width});
  for (index_t p = 0; p < length; ++p) {
    for (index_t j = 0; j < width; ++j) {
      const double pair = static_cast<double>(j / 2);
      const double angle = static_cast<double>(p) * std::pow(10000.0, -2 * pair / static_cast<double>(width));
      out.data()[p * width + j] = static_cast<real>(j % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return out;
}

std::vector<double> alibi_slopes(index_t heads) {
  if (heads < 1) throw ValueError("alibi_slopes", "at least 1 head", heads);
  index_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> out;
  for (index_t h = 0; h < power; ++h)
    out.push_back(std::exp2(-8 * static_cast<double>(h + 1) / static_cast<double>(power)));
  for (index_t h = 0; power + h < heads; ++h)
    out.push_back(std::exp2(-8 * static_cast<double>(2 * h + 1) / static_cast<double>(2 * power)));
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
