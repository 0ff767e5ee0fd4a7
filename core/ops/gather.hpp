// Picking rows by index.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

constexpr index_t kNoPadding = -1;

/// Row ids[i] of weight [V, C] for every id: ids of any shape -> ids.shape + [C]. A row named several times gets the
/// sum of its gradients; the row `padding` gets none. Throws ShapeError, or IndexError for an id outside 0..V-1.
Tensor embedding(const Tensor& weight, const IndexArray& ids, index_t padding = kNoPadding);

}  // namespace xtape::inline XTAPE_FLAVOUR
