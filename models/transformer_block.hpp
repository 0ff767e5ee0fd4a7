// One transformer layer: attention and a two-layer network, each around a residual connection.
#pragma once

#include <xtape/nn/dropout.hpp>
#include <xtape/nn/layer_norm.hpp>
#include <xtape/nn/multi_head_attention.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct TransformerBlockOptions {
  index_t width;
  index_t heads;
  AttentionConfig attention = {};  ///< kind and shape of the attention
  index_t hidden = 0;              ///< of the inner network; 0 means 4 width
  double dropout = 0;              ///< of attention weights and of both residual branches
  bool bias = true;                ///< in attention and linear layers
  bool norm_bias = true;           ///< in both norms
  Init weight_init = {};           ///< of all weights; default: each layer's own
  Init residual_init = {};         ///< of the projections into the residual stream; default: weight_init

  // What the parts of a block get.
  index_t inner_width() const { return hidden ? hidden : 4 * width; }
  LinearOptions inner_linear() const;     ///< a given initialisation comes with zero biases
  LinearOptions residual_linear() const;  ///< of what ends in the residual stream
  MultiHeadAttentionOptions attention_options() const;
};

/// Pre-norm block: x + attention(norm1(x)), then x + linear2(gelu(linear1(norm2(x)))). [B, T, C] -> [B, T, C].
/// Parameters have the names of torch.nn.TransformerEncoderLayer: self_attn.*, linear1.*, linear2.*, norm1.*, norm2.*.
class TransformerBlock {
 public:
  TransformerBlock(const Scope& scope, const TransformerBlockOptions& options);

  Tensor operator()(Tensor x, const AttentionMasks& masks) const;
  /// The next positions, causal, after those in the cache; see MultiHeadAttention::step.
  Tensor step(Tensor x, AttentionCache& cache, const IndexArray& lengths) const;

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
