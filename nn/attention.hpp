// Multi-head self-attention (Vaswani et al. 2017, section 3.2.2).
#pragma once

#include <xtape/core/ops/attention.hpp>
#include <xtape/nn/linear.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

struct MultiHeadAttentionOptions {
  index_t width;                ///< C of input and output
  index_t heads;                ///< H; must divide the width
  bool bias = true;             ///< of all projections
  double dropout = 0;           ///< of the attention weights, in training
  Init in_proj_init = {};       ///< default: Xavier uniform, as PyTorch
  LinearOptions out_proj = {};  ///< `bias` above decides over its bias; starts at zero, as PyTorch
};

/// Who may see whom; combined by OR of what is hidden. See AttentionOptions.
struct AttentionMasks {
  bool causal = false;
  Mask key_padding = {};  ///< [B, T], true: hidden
  Mask mask = {};         ///< [T, T] or [B, T, T], true: hidden
};

/// x [B, T, C] -> [B, T, C]. Parameters, as in PyTorch: in_proj_weight [3C, C] (q, k, v stacked), in_proj_bias [3C],
/// out_proj.weight [C, C], out_proj.bias [C].
class MultiHeadAttention {
 public:
  /// Throws ValueError if the heads do not divide the width.
  MultiHeadAttention(const Scope& scope, const MultiHeadAttentionOptions& options);
  MultiHeadAttention(MultiHeadAttention&&) = default;
  MultiHeadAttention(const MultiHeadAttention&) = delete;

  /// Throws ShapeError if x or a mask does not fit.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks = {}) const;

  Parameter in_proj_weight;
  Parameter in_proj_bias;
  Linear out_proj;

 private:
  Scope scope_;
  std::string layer_;
  index_t heads_;
  double dropout_;
  mutable MaskStream dropout_masks_;
};

}  // namespace xtape::inline XTAPE_FLAVOUR
