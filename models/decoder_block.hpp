// One layer of a transformer decoder with cross-attention to the output of an encoder.
#pragma once

#include <xtape/models/transformer_block.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Pre-norm block: x + self_attn(norm1(x)), then x + multihead_attn(norm2(x), memory), then x +
/// linear2(gelu(linear1(norm3(x)))). x [B, T, C], memory [B, S, C] -> [B, T, C]. Parameters, named as in
/// torch.nn.TransformerDecoderLayer: self_attn.*, multihead_attn.*, linear1.*, linear2.*, norm1.*, norm2.*, norm3.*.
class DecoderBlock {
 public:
  DecoderBlock(const Scope& scope, const TransformerBlockOptions& options);

  /// `masks` apply to self-attention, `memory_masks` to the attention to the memory. Throws as MultiHeadAttention.
  Tensor operator()(Tensor x, const Tensor& memory, const AttentionMasks& masks,
                    const AttentionMasks& memory_masks) const;
  /// The cross-attention weights [B, H, T, S] of this call, without gradient tracking.
  Tensor memory_weights(const Tensor& x, const Tensor& memory, const AttentionMasks& masks,
                        const AttentionMasks& memory_masks) const;
  /// Processes the next positions [B, T, C] after those in the cache; see MultiHeadAttention::step.
  Tensor step(Tensor x, AttentionCache& cache, const CrossAttentionCache& memory) const;

  LayerNorm norm1;
  MultiHeadAttention self_attn;
  LayerNorm norm2;
  MultiHeadAttention multihead_attn;
  LayerNorm norm3;
  Linear linear1;
  Linear linear2;
  Dropout dropout1;
  Dropout dropout2;
  Dropout dropout3;
};

}  // namespace xtape::inline XTAPE_DTYPE
