// Attention of new positions to cached ones, for incremental decoding; not recorded on tapes. Shared by the caches of
// nn. Not part of the public interface. Letters as in attention.hpp and linear_attention.hpp.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Keys and values of past positions. Rows are padded to whole vectors: see `cached_row_width`.
struct CachedKeys {
  const Array& keys;           ///< [B, H', capacity, padded D], the padding zero
  const Array& values;         ///< [B, H', capacity, padded V]
  const IndexArray& lengths;   ///< [B]: positions that are there
  index_t width, value_width;  ///< D, V
};

/// Elements of a cached row that holds `width` numbers.
index_t cached_row_width(index_t width);

/// softmax(scale q k^T) v for q [B, H, T, D], of which the first chunk_lengths[b] (empty: all T) are the last positions
/// in the cache: each sees the positions up to itself. -> [B, H, T, V]; rows past a chunk's length hold anything
/// finite.
Tensor cached_attention(const Tensor& q, const CachedKeys& cached, const IndexArray& chunk_lengths, double scale);

/// What is in the cache as [B, H', longest, width], zeros past each sequence's length, and the [B, T, longest] mask
/// that hides from each query of the chunk what it does not see: for kinds of attention without a way of their own.
Tensor cached_positions(const Array& rows, const IndexArray& lengths, index_t width);
Mask cached_mask(const CachedKeys& cached, const IndexArray& chunk_lengths, index_t time);

/// Sums over the keys seen so far, of constant size.
using LinearState = Array;

/// A state that has seen no keys. [B, H', size]; the layout is the kernels' own.
LinearState linear_state(index_t batches, index_t key_heads, index_t features, index_t value_width);

/// `linear_attention`, or `separable_attention`, of the next T positions (T = S, causal) after those that `state` has
/// seen; it is brought up to date. Throws ShapeError.
Tensor linear_attention_step(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_key_weight,
                             const Mask& key_padding, bool separable, LinearState& state);

}  // namespace xtape::inline XTAPE_DTYPE
