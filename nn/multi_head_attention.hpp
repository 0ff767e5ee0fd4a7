// Multi-head attention (Vaswani et al. 2017, section 3.2.2) of every kind: self-attention and cross-attention.
#pragma once

#include <xtape/nn/attention_cost.hpp>
#include <xtape/nn/attention_kinds.hpp>
#include <xtape/nn/kv_cache.hpp>
#include <xtape/nn/linear.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct MultiHeadAttentionOptions {
  index_t width;                   ///< C, the width of input and output
  index_t heads;                   ///< H; must divide the width unless attention.head_width is given
  AttentionConfig attention = {};  ///< kind of attention, key heads, widths of a head, positions
  bool bias = true;                ///< biases of all projections
  /// probability in training mode; acts on the attention weights, or on the result for kinds without weights
  double dropout = 0;
  Init in_proj_init = {};  ///< default: Xavier uniform, as in PyTorch
  /// its field `bias` is ignored in favor of the one above; the bias starts at zero, as in PyTorch
  LinearOptions out_proj = {};
};

/// Which queries may attend to which keys. A pair is masked if any of these masks it. See AttentionOptions.
struct AttentionMasks {
  bool causal = false;
  Mask key_padding = {};  ///< [B, S], true: masked
  Mask mask = {};         ///< [T, S] or [B, T, S], true: masked; not for linear kinds
};

/// Multi-head attention of queries x [B, T, C] over themselves or over a memory [B, S, C] -> [B, T, C]. D, V and H' are
/// as in AttentionConfig.
///
/// Parameters, named as in PyTorch: in_proj_weight [H D + H' D + H' V, C] (projections of q, k and v stacked; [3C, C]
/// by default), in_proj_bias, out_proj.weight [C, H V], out_proj.bias [C]; for the additive kind also score_weight
/// [H, D]. Buffer of rff and prf: features [m, D], shared by all heads.
class MultiHeadAttention {
 public:
  /// Throws ValueError if the sizes or options contradict each other.
  MultiHeadAttention(const Scope& scope, const MultiHeadAttentionOptions& options);
  MultiHeadAttention(MultiHeadAttention&&) = default;
  MultiHeadAttention(const MultiHeadAttention&) = delete;

  /// Self-attention. A padded row touches nothing, whatever it holds: one that is not finite counts as zeros. Throws
  /// ShapeError if x or a mask has the wrong shape, UnsupportedError for `mask` with a linear
  /// kind.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}) const;
  /// Cross-attention. Throws the same exceptions.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks = {}) const;

  /// The attention weights [B, H, T, S] of these calls, without dropout and without gradient tracking. For a linear
  /// kind, the weights that it applies implicitly. Throws the same exceptions.
  Tensor weights(const Tensor& x, const AttentionMasks& masks = {}) const { return weights(x, x, masks); }
  Tensor weights(const Tensor& x, const Tensor& memory, const AttentionMasks& masks = {}) const;

  /// An empty cache for `batch` sequences of at most `limit` positions. Linear kinds ignore the limit.
  AttentionCache cache(index_t batch, index_t limit) const;
  /// Causal self-attention of the next T positions x [B, T, C], which are appended to the cache. `lengths` [B] says how
  /// many of the T positions are unpadded in each sequence (empty: all); output rows of padded positions are
  /// unspecified. The result equals the rows of a causal call over the whole sequences, whatever the chunk sizes. Has
  /// no backward: throws UnsupportedError under a tape that tracks x or the parameters. Throws ShapeError, IndexError
  /// for a length, ValueError beyond the cache's limit.
  Tensor step(const Tensor& x, AttentionCache& cache, const IndexArray& lengths = {}) const;

  /// Incremental decoding with cross-attention: memory_cache projects the memory [B, S, C] to keys and values once,
  /// step attends to them. Throws the same exceptions.
  CrossAttentionCache memory_cache(const Tensor& memory, const Mask& key_padding = {}) const;
  Tensor step(const Tensor& x, const CrossAttentionCache& memory) const;

  /// Draws new random features for rff and prf. Does nothing for other kinds.
  void redraw_features();

  /// The cost of a forward pass by formula; see attention_cost.
  AttentionCost cost(const AttentionSizes& sizes) const { return attention_cost(config_, width_, heads_, sizes); }

  /// the configuration in use: every 0 is replaced by the default that it stands for
  const AttentionConfig& config() const { return config_; }
  index_t width() const { return width_; }
  index_t heads() const { return heads_; }

  Parameter in_proj_weight;
  Parameter in_proj_bias;
  Parameter score_weight;  ///< undefined unless the kind is additive
  Buffer features;         ///< undefined unless the kind is rff or prf
  Linear out_proj;

 private:
  Tensor projected(const Tensor& x, index_t first_row, index_t rows) const;
  AttentionOptions options_for(const AttentionMasks& masks) const;
  Tensor mixed(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) const;
  void check_not_recorded(const Tensor& x) const;

  AttentionWeights operands() const;

  Scope scope_;
  std::string layer_;
  index_t width_;
  index_t heads_;
  AttentionConfig config_;
  double dropout_;
  mutable RandomKeyStream dropout_masks_;
  mutable RandomKeyStream feature_draws_;
};

}  // namespace xtape::inline XTAPE_DTYPE
