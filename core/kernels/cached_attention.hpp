// Softmax attention of a few queries to many cached keys. Each key and value is read once for all queries of its group.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

struct CachedAttentionProblem {
  index_t batches, heads, key_heads, queries, capacity, width, value_width;
  real scale;
  const real* q;           ///< [batches, heads, queries, width]
  const real* keys;        ///< [batches, key_heads, capacity, padded width], the padding zero
  const real* values;      ///< [batches, key_heads, capacity, padded value width]
  const index_t* visible;  ///< [batches, queries]: how many leading positions each query attends to
};

/// `width` rounded up to a multiple of the vector length.
index_t cached_row_width(index_t width);

/// out [batches, heads, queries, value_width]; zeros for a query that attends to nothing.
void cached_attention(const CachedAttentionProblem& problem, real* out);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
