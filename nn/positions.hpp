// Positions.
#pragma once

#include <xtape/core/array.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Table [length, width] with PE(p, 2i) = sin(p / 10000^(2i/width)), PE(p, 2i+1) = cos of the same (Vaswani et al.
/// 2017, section 3.5; i numbers pairs). An odd width ends with a sine. Throws ValueError if a size is less than 1.
Array sinusoidal_positions(index_t length, index_t width);

/// ALiBi's slope of each head (Press et al. 2022, section 3): 2^(-8 (h+1)/H) if H is a power of 2, else those of the
/// next lower power P and then every second one of 2P. Throws ValueError if there is no head.
std::vector<double> alibi_slopes(index_t heads);

}  // namespace xtape::inline XTAPE_DTYPE
