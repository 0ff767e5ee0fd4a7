#include <xtape/core/error.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/random_features.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

Array random_features(index_t count, index_t width, bool orthogonal, const RandomKey& key) {
  if (count < 1 || width < 1) throw ValueError("random_features", "sizes of at least 1", count, width);
  Random random(key.seed, substream(key.stream, key.call));
  Array out = empty_array({count, width});
  for (index_t first = 0; first < count; first += width) {
    const index_t rows = std::min(width, count - first);
    Array group = empty_array({rows, width});
    if (orthogonal) init::orthogonal()(group, random);
    else init::normal(0, 1)(group, random);
    for (index_t r = 0; r < rows; ++r) {
      double squares = 0;  // of a second normal vector: its length makes an orthonormal direction a normal vector
      for (index_t c = 0; orthogonal && c < width; ++c) squares += std::pow(random.normal(), 2);
      const real length = orthogonal ? static_cast<real>(std::sqrt(squares)) : real(1);
      for (index_t c = 0; c < width; ++c) out.data()[(first + r) * width + c] = length * group.data()[r * width + c];
    }
  }
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
