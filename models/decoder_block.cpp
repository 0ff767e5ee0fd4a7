#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/unary.hpp>
#include <xtape/models/decoder_block.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Options of the attention to the memory. It has no position encoding, because queries and memory are different
/// sequences.
MultiHeadAttentionOptions memory_attention(const TransformerBlockOptions& o) {
  MultiHeadAttentionOptions out = o.attention_options();
  out.attention.positions = AttentionPositions::none;
  return out;
}

}  // namespace

DecoderBlock::DecoderBlock(const Scope& scope, const TransformerBlockOptions& o)
    : norm1(scope / "norm1", o.width),
      self_attn(scope / "self_attn", o.attention_options()),
      norm2(scope / "norm2", o.width),
      multihead_attn(scope / "multihead_attn", memory_attention(o)),
      norm3(scope / "norm3", o.width),
      linear1(scope / "linear1", o.width, o.inner_width(), o.inner_linear()),
      linear2(scope / "linear2", o.inner_width(), o.width, o.residual_linear()),
      dropout1(scope / "dropout1", o.dropout),
      dropout2(scope / "dropout2", o.dropout),
      dropout3(scope / "dropout3", o.dropout) {}

Tensor DecoderBlock::operator()(Tensor x, const Tensor& memory, const AttentionMasks& masks,
                                const AttentionMasks& memory_masks) const {
  x = x + dropout1(self_attn(norm1(x), masks));
  x = x + dropout2(multihead_attn(norm2(x), memory, memory_masks));
  return x + dropout3(linear2(gelu(linear1(norm3(x)))));
}

Tensor DecoderBlock::memory_weights(const Tensor& x, const Tensor& memory, const AttentionMasks& masks,
                                    const AttentionMasks& memory_masks) const {
  return multihead_attn.weights(norm2(x + dropout1(self_attn(norm1(x), masks))), memory, memory_masks);
}

Tensor DecoderBlock::step(Tensor x, AttentionCache& cache, const CrossAttentionCache& memory) const {
  x = x + self_attn.step(norm1(x), cache);
  x = x + multihead_attn.step(norm2(x), memory);
  return x + linear2(gelu(linear1(norm3(x))));
}

}  // namespace xtape::inline XTAPE_DTYPE
