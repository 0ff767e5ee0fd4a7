// Multi-head attention (Vaswani et al. 2017, section 3.2.2) of every kind, to itself or to a memory.
#pragma once

#include <xtape/nn/attention_cost.hpp>
#include <xtape/nn/attention_kinds.hpp>
#include <xtape/nn/kv_cache.hpp>
#include <xtape/nn/linear.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct MultiHeadAttentionOptions {
  index_t width;                   ///< C of input and output
  index_t heads;                   ///< H; must divide the width unless the form says the heads' width
  AttentionConfig attention = {};  ///< kind of attention, key heads, head widths, positions
  bool bias = true;                ///< of all projections
  double dropout = 0;              ///< in training; of the weights, or of the mixed values where no weights are formed
  Init in_proj_init = {};          ///< default: Xavier uniform, as PyTorch
  LinearOptions out_proj = {};     ///< `bias` above decides over its bias; starts at zero, as PyTorch
};

/// Who may see whom; combined by OR of what is hidden. See AttentionOptions.
struct AttentionMasks {
  bool causal = false;
  Mask key_padding = {};  ///< [B, S], true: hidden
  Mask mask = {};         ///< [T, S] or [B, T, S], true: hidden; not for linear kinds
};

/// Queries x [B, T, C] attend to themselves or to a memory [B, S, C] -> [B, T, C]. Parameters, as in PyTorch:
/// in_proj_weight [H D + H' D + H' V, C] (q, k, v stacked; [3C, C] by default), in_proj_bias, out_proj.weight [C, H V],
/// out_proj.bias [C]; additive kind: score_weight [H, D]. Buffer of rff and prf, the same for all heads: features
/// [m, D].
class MultiHeadAttention {
 public:
  /// Throws ValueError if sizes or options do not fit together.
  MultiHeadAttention(const Scope& scope, const MultiHeadAttentionOptions& options);
  MultiHeadAttention(MultiHeadAttention&&) = default;
  MultiHeadAttention(const MultiHeadAttention&) = delete;

  /// Self-attention. Throws ShapeError if x or a mask does not fit, UnsupportedError for `mask` with a linear kind.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}) const;
  /// Cross-attention. Throws as the above.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks = {}) const;

  /// The weights [B, H, T, S] that these calls mix values by, of linear kinds those that they imply; without dropout.
  /// Not tracked. Throws as the calls.
  Tensor weights(const Tensor& x, const AttentionMasks& masks = {}) const { return weights(x, x, masks); }
  Tensor weights(const Tensor& x, const Tensor& memory, const AttentionMasks& masks = {}) const;

  /// An empty cache for `batch` sequences of at most `limit` positions (linear kinds: of any length).
  AttentionCache cache(index_t batch, index_t limit) const;
  /// Causal self-attention of the next T positions x [B, T, C], of which lengths[b] (empty: all) are real, after those
  /// in the cache, to which they are added. Equals the rows of the call over whole sequences, in whatever chunks they
  /// come; rows past a length hold anything. Not recorded: under a tape that tracks x or the weights it throws
  /// UnsupportedError. Throws ShapeError, IndexError, ValueError beyond the cache's limit.
  Tensor step(const Tensor& x, AttentionCache& cache, const IndexArray& lengths = {}) const;

  /// The same for cross-attention: what the memory [B, S, C] gives is computed once.
  CrossAttentionCache memory_cache(const Tensor& memory, const Mask& key_padding = {}) const;
  Tensor step(const Tensor& x, const CrossAttentionCache& memory) const;

  /// Draws the random features of rff and prf anew; nothing for other kinds.
  void redraw_features();

  /// By formula; see attention_cost.
  AttentionCost cost(const AttentionSizes& sizes) const { return attention_cost(config_, width_, heads_, sizes); }

  const AttentionConfig& config() const { return config_; }  ///< every 0 replaced by what it means
  index_t width() const { return width_; }
  index_t heads() const { return heads_; }

  Parameter in_proj_weight;
  Parameter in_proj_bias;
  Parameter score_weight;  ///< empty unless additive
  Buffer features;         ///< empty unless rff or prf
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
