// Softmax attention of a few queries to many cached keys, each key and value read once for all queries of its group.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

struct CachedAttentionProblem {
  index_t batches, heads, key_heads, queries, capacity, width, value_width;
  real scale;
  const real* q;           ///< [batches, heads, queries, width]
  const real* keys;        ///< [batches, key_heads, capacity, padded width], the padding zero
  const real* values;      ///< [batches, key_heads, capacity, padded value width]
  const index_t* visible;  ///< [batches, queries]: how many positions each query sees
};

/// `width` rounded up to whole vectors.
index_t cached_row_width(index_t width);

/// out [batches, heads, queries, value_width]; a query that sees nothing gives zeros.
void cached_attention(const CachedAttentionProblem& problem, real* out);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
