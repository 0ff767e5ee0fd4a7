// Random vectors for attention by random features.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// `count` vectors of width `width`, each normal with mean 0 and covariance I: [count, width]. `orthogonal`: those of a
/// group of `width` stand at right angles to each other, which lowers the variance of what is estimated with them (Yu
/// et al. 2016). The same key gives the same vectors. Throws ValueError if a size is less than 1.
Array random_features(index_t count, index_t width, bool orthogonal, const RandomKey& key);

}  // namespace xtape::inline XTAPE_DTYPE
