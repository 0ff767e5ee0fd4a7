// Caches for incremental decoding: keys and values of past positions, or the fixed-size sums of linear attention.
#pragma once

#include <xtape/core/ops/cached_attention.hpp>
#include <xtape/core/ops/linear_attention.hpp>

#include <variant>

namespace xtape::inline XTAPE_DTYPE {

struct KVCacheOptions {
  index_t batch;          ///< B
  index_t key_heads;      ///< H'
  index_t width;          ///< D, the width of keys in one head
  index_t value_width;    ///< V, the width of values in one head
  index_t limit;          ///< largest number of positions of a sequence
  index_t capacity = 64;  ///< positions allocated at the start
};

/// Keys and values of past positions. The capacity doubles when it is full, up to the limit, so the cost of appending
/// is amortized. The sequences may have different lengths.
class KVCache {
 public:
  /// Throws ValueError for a size below 1.
  explicit KVCache(const KVCacheOptions& options);

  /// Appends k [B, H', T, D] and v [B, H', T, V]. `lengths` [B] says how many of the T positions are unpadded in each
  /// sequence; empty means T. Throws ShapeError, IndexError for a length outside 0..T, ValueError beyond the limit. An
  /// exception leaves the cache unchanged.
  void append(const Tensor& k, const Tensor& v, const IndexArray& lengths = {});

  /// Makes sequence b a copy of sequence rows[b], for rows [B] (beam search). Throws ShapeError or IndexError.
  void select(const IndexArray& rows);

  const IndexArray& lengths() const { return lengths_; }  ///< number of positions of each sequence, [B]
  index_t capacity() const { return capacity_; }
  index_t bytes() const;  ///< allocated memory
  CachedKeys view() const { return {keys_, values_, lengths_, options_.width, options_.value_width}; }

 private:
  Array rows_array(index_t capacity, index_t width) const;
  void reserve(index_t positions);

  KVCacheOptions options_;
  index_t capacity_;
  Array keys_, values_;
  IndexArray lengths_;
};

/// The sums of linear attention over past positions. Their size does not depend on the length of the sequence.
class LinearAttentionCache {
 public:
  /// Throws ValueError for a size below 1.
  LinearAttentionCache(index_t batch, index_t key_heads, index_t features, index_t value_width);

  /// Adds T positions to the lengths, of which lengths[b] (empty: all) are unpadded. Returns the key_padding [B, T] of
  /// these positions, or an empty mask if there is no padding. Throws ShapeError, IndexError.
  Mask advance(index_t time, const IndexArray& lengths);
  void select(const IndexArray& rows);  ///< as KVCache::select

  const IndexArray& lengths() const { return lengths_; }
  index_t bytes() const { return numel(state) * index_t{sizeof(real)}; }

  LinearState state;  ///< [B, H', size of the sums]

 private:
  IndexArray lengths_;
};

/// The cache of one attention layer: keys and values, or sums for a linear kind.
class AttentionCache {
 public:
  explicit AttentionCache(KVCache cache) : cache_(std::move(cache)) {}
  explicit AttentionCache(LinearAttentionCache cache) : cache_(std::move(cache)) {}

  /// Null if the cache is of the other kind.
  KVCache* keys() { return std::get_if<KVCache>(&cache_); }
  LinearAttentionCache* sums() { return std::get_if<LinearAttentionCache>(&cache_); }

  const IndexArray& lengths() const;    ///< number of positions of each sequence, [B]
  index_t bytes() const;                ///< allocated memory
  void select(const IndexArray& rows);  ///< makes sequence b a copy of sequence rows[b]

 private:
  std::variant<KVCache, LinearAttentionCache> cache_;
};

/// Keys and values of an encoder memory, projected once, for cross-attention.
struct CrossAttentionCache {
  Tensor k, v;            ///< [B, H', S, D] and [B, H', S, V]
  Mask key_padding = {};  ///< [B, S], true: masked; or empty
};

}  // namespace xtape::inline XTAPE_DTYPE
