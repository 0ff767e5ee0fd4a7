// What incremental decoding keeps of the positions before: keys and values, or sums of constant size.
#pragma once

#include <xtape/core/ops/cached_attention.hpp>

#include <variant>

namespace xtape::inline XTAPE_DTYPE {

struct KVCacheOptions {
  index_t batch;
  index_t key_heads;      ///< H'
  index_t width;          ///< D of keys
  index_t value_width;    ///< V
  index_t limit;          ///< the most positions of a sequence
  index_t capacity = 64;  ///< positions with room from the start
};

/// Keys and values of past positions. Grows by doubling up to a limit, so that appending copies what is appended and
/// seldom more. Sequences may have different lengths.
class KVCache {
 public:
  /// Throws ValueError for a size below 1.
  explicit KVCache(const KVCacheOptions& options);

  /// Appends k [B, H', T, D] and v [B, H', T, V]; `lengths` [B] of these T positions are real, or empty for all. Throws
  /// ShapeError, IndexError for a length outside 0..T, ValueError beyond the limit; then nothing is changed.
  void append(const Tensor& k, const Tensor& v, const IndexArray& lengths = {});

  /// Sequence b becomes a copy of sequence rows[b] (beam search). Throws ShapeError or IndexError.
  void select(const IndexArray& rows);

  const IndexArray& lengths() const { return lengths_; }  ///< positions of each sequence, [B]
  index_t capacity() const { return capacity_; }
  index_t bytes() const;  ///< allocated
  CachedKeys view() const { return {keys_, values_, lengths_, options_.width, options_.value_width}; }

 private:
  Array rows_array(index_t capacity, index_t width) const;
  void reserve(index_t positions);

  KVCacheOptions options_;
  index_t capacity_;
  Array keys_, values_;
  IndexArray lengths_;
};

/// Sums of linear attention: the same size however long the sequence.
class LinearAttentionCache {
 public:
  /// Throws ValueError for a size below 1.
  LinearAttentionCache(index_t batch, index_t key_heads, index_t features, index_t value_width);

  /// Notes T more positions, of which lengths[b] (empty: all) are real, and returns their key_padding, empty if all are
  /// real. Throws ShapeError, IndexError.
  Mask advance(index_t time, const IndexArray& lengths);
  void select(const IndexArray& rows);  ///< as KVCache

  const IndexArray& lengths() const { return lengths_; }
  index_t bytes() const { return static_cast<index_t>(state.size() * sizeof(real)); }

  LinearState state;  ///< [B, H', size]

 private:
  IndexArray lengths_;
};

/// The cache of one attention layer.
class AttentionCache {
 public:
  explicit AttentionCache(KVCache cache) : cache_(std::move(cache)) {}
  explicit AttentionCache(LinearAttentionCache cache) : cache_(std::move(cache)) {}

  /// Null if it is of the other kind.
  KVCache* keys() { return std::get_if<KVCache>(&cache_); }
  LinearAttentionCache* sums() { return std::get_if<LinearAttentionCache>(&cache_); }

  const IndexArray& lengths() const;    ///< positions of each sequence, [B]
  index_t bytes() const;                ///< allocated
  void select(const IndexArray& rows);  ///< sequence b becomes a copy of sequence rows[b]

 private:
  std::variant<KVCache, LinearAttentionCache> cache_;
};

/// Keys and values of a memory, projected once, for cross-attention.
struct CrossAttentionCache {
  Tensor k, v;            ///< [B, H', S, D] and [B, H', S, V]
  Mask key_padding = {};  ///< [B, S], or empty
};

}  // namespace xtape::inline XTAPE_DTYPE
