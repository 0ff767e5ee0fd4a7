#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/unary.hpp>
#include <xtape/models/transformer_block.hpp>
#include <xtape/nn/init.hpp>

namespace xtape::inline XTAPE_DTYPE {

LinearOptions TransformerBlockOptions::inner_linear() const {
  return {.bias = bias, .weight_init = weight_init, .bias_init = weight_init ? init::zeros() : Init()};
}

LinearOptions TransformerBlockOptions::residual_linear() const {
  const Init& weights = residual_init ? residual_init : weight_init;
  return {.bias = bias, .weight_init = weights, .bias_init = weights ? init::zeros() : Init()};
}

MultiHeadAttentionOptions TransformerBlockOptions::attention_options() const {
  return {.width = width,
          .heads = heads,
          .attention = attention,
          .bias = bias,
          .dropout = dropout,
          .in_proj_init = weight_init,
          .out_proj = residual_linear()};
}

TransformerBlock::TransformerBlock(const Scope& scope, const TransformerBlockOptions& o)
    : norm1(scope / "norm1", o.width, {.bias = o.norm_bias}),
      self_attn(scope / "self_attn", o.attention_options()),
      norm2(scope / "norm2", o.width, {.bias = o.norm_bias}),
      linear1(scope / "linear1", o.width, o.inner_width(), o.inner_linear()),
      linear2(scope / "linear2", o.inner_width(), o.width, o.residual_linear()),
      dropout1(scope / "dropout1", o.dropout),
      dropout2(scope / "dropout2", o.dropout),
      layer_(scope.name_or("block")) {}

Tensor TransformerBlock::with_network(const Tensor& x) const { return x + dropout2(linear2(gelu(linear1(norm2(x))))); }

Tensor TransformerBlock::operator()(const Tensor& x, const AttentionMasks& masks) const {
  const LayerScope here(layer_);
  return here.output(with_network(x + dropout1(self_attn(norm1(x), masks))));
}

Tensor TransformerBlock::step(const Tensor& x, AttentionCache& cache, const IndexArray& lengths) const {
  return with_network(x + self_attn.step(norm1(x), cache, lengths));
}

}  // namespace xtape::inline XTAPE_DTYPE
