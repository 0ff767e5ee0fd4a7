// Positions.
#pragma once

#include <xtape/core/array.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

/// Table [length, width] with PE(p, 2i) = sin(p / 10000^(2i/width)), PE(p, 2i+1) = cos of the same (Vaswani et al.
/// 2017, section 3.5; i numbers pairs). An odd width ends with a sine. Throws ValueError if a size is less than 1.
Array sinusoidal_positions(index_t length, index_t width);

}  // namespace xtape::inline XTAPE_FLAVOUR
