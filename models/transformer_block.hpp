// One transformer layer: self-attention and a two-layer feedforward network, each with a residual connection.
#pragma once

#include <xtape/nn/dropout.hpp>
#include <xtape/nn/layer_norm.hpp>
#include <xtape/nn/multi_head_attention.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct TransformerBlockOptions {
  index_t width;                   ///< C
  index_t heads;                   ///< H
  AttentionConfig attention = {};  ///< kind of attention and sizes of its heads
  index_t hidden = 0;              ///< width of the feedforward network; 0 means 4 C
  double dropout = 0;       ///< probability for the attention weights and both residual branches, in training mode
  bool bias = true;         ///< biases of attention and linear layers
  bool norm_bias = true;    ///< biases of both norms
  Init weight_init = {};    ///< all weights; default: the default of each layer
  Init residual_init = {};  ///< projections into the residual stream; default: weight_init

  // Options of the block's layers.
  index_t inner_width() const { return hidden ? hidden : 4 * width; }
  LinearOptions inner_linear() const;     ///< if weight_init is given, biases start at zero
  LinearOptions residual_linear() const;  ///< for the projections into the residual stream
  MultiHeadAttentionOptions attention_options() const;
};

/// Pre-norm block: x + attention(norm1(x)), then x + linear2(gelu(linear1(norm2(x)))). x [B, T, C] -> [B, T, C].
/// Parameters, named as in torch.nn.TransformerEncoderLayer: self_attn.*, linear1.*, linear2.*, norm1.*, norm2.*.
class TransformerBlock {
 public:
  TransformerBlock(const Scope& scope, const TransformerBlockOptions& options);

  Tensor operator()(const Tensor& x, const AttentionMasks& masks) const;
  /// Processes the next positions [B, T, C] after those in the cache, causally; see MultiHeadAttention::step.
  Tensor step(const Tensor& x, AttentionCache& cache, const IndexArray& lengths) const;

  LayerNorm norm1;
  MultiHeadAttention self_attn;
  LayerNorm norm2;
  Linear linear1;
  Linear linear2;
  Dropout dropout1;
  Dropout dropout2;

 private:
  Tensor with_network(const Tensor& x) const;

  std::string layer_;
};

}  // namespace xtape::inline XTAPE_DTYPE
