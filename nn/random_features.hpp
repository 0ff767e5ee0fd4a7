// Random vectors for attention with random features.
#pragma once

#include <xtape/core/param_store.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Random vectors [count, width], each normal with mean 0 and covariance I. With `orthogonal`, the vectors within each
/// group of `width` are orthogonal to each other, which lowers the variance of the estimated kernel (Yu et al. 2016).
/// The same key gives the same vectors. Throws ValueError if a size is less than 1.
Array random_features(index_t count, index_t width, bool orthogonal, const RandomKey& key);

}  // namespace xtape::inline XTAPE_DTYPE
