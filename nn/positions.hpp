// Position encodings that are computed, not learned.
#pragma once

#include <xtape/core/shape.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

/// Sinusoidal position encoding [length, width] (Vaswani et al. 2017, section 3.5): PE(p, 2i) = sin(p /
/// 10000^(2i/width)), PE(p, 2i+1) = cos(p / 10000^(2i/width)). With an odd width the last column is a sine. Throws
/// ValueError if a size is less than 1.
Array sinusoidal_positions(index_t length, index_t width);

/// The slope of ALiBi's penalty in each head (Press et al. 2022, section 3): 2^(-8 (h+1)/H) if the number of heads H is
/// a power of 2. Otherwise the slopes for P heads, the next lower power of 2, then every second slope for 2P heads.
/// Throws ValueError if there is no head.
std::vector<double> alibi_slopes(index_t heads);

}  // namespace xtape::inline XTAPE_DTYPE
