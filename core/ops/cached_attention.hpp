// Attention of new positions to cached keys and values, for incremental decoding. Public, as the caches of nn show it;
// not recorded on tapes. Letters: B batch, H heads, H' key heads (a divisor of H), T new positions, D width of queries
// and keys, V width of values.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Keys and values of past positions. Each row is padded to `cached_row_width` elements.
struct CachedKeys {
  const Array& keys;           ///< [B, H', capacity, padded D], the padding zero
  const Array& values;         ///< [B, H', capacity, padded V]
  const IndexArray& lengths;   ///< [B]: how many positions are cached
  index_t width, value_width;  ///< D, V
};

/// Elements of a cached row of `width` values: the next multiple of the vector length.
index_t cached_row_width(index_t width);

/// softmax(scale q k^T) v for q [B, H, T, D] -> [B, H, T, V]. The first chunk_lengths[b] queries (empty: all T) are the
/// last cached positions of sequence b; each attends to the positions up to its own. A scale of 0 means 1/sqrt(D). Rows
/// past a chunk's length are zero.
Tensor cached_attention(const Tensor& q, const CachedKeys& cached, const IndexArray& chunk_lengths, double scale);

/// The cached rows without padding, [B, H', longest, width], zeros past each sequence's length. With `cached_mask`, for
/// attention kinds that have no kernel for cached keys.
Tensor cached_positions(const Array& rows, const IndexArray& lengths, index_t width);
/// [B, T, longest]: hides from each query of the chunk the positions after its own, and all from those past its length.
Mask cached_mask(const CachedKeys& cached, const IndexArray& chunk_lengths, index_t time);

}  // namespace xtape::inline XTAPE_DTYPE
