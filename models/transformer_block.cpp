#include <xtape/core/ops/activation.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/models/transformer_block.hpp>
#include <xtape/nn/init.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

namespace {

/// A given initialisation comes with zero biases; without one the layer's own defaults stay.
LinearOptions linear_options(const TransformerBlockOptions& o, const Init& weight_init) {
  return {.bias = o.bias, .weight_init = weight_init, .bias_init = weight_init ? init::zeros() : Init()};
}

const Init& residual_init(const TransformerBlockOptions& o) {
  return o.residual_init ? o.residual_init : o.weight_init;
}

index_t hidden(const TransformerBlockOptions& o) { return o.hidden ? o.hidden : 4 * o.width; }

}  // namespace

TransformerBlock::TransformerBlock(const Scope& scope, const TransformerBlockOptions& o)
    : norm1(scope / "norm1", o.width, {.bias = o.norm_bias}),
      self_attn(scope / "self_attn", {.width = o.width,
                                      .heads = o.heads,
                                      .bias = o.bias,
                                      .dropout = o.dropout,
                                      .in_proj_init = o.weight_init,
                                      .out_proj = linear_options(o, residual_init(o))}),
      norm2(scope / "norm2", o.width, {.bias = o.norm_bias}),
      linear1(scope / "linear1", o.width, hidden(o), linear_options(o, o.weight_init)),
      linear2(scope / "linear2", hidden(o), o.width, linear_options(o, residual_init(o))),
      dropout1(scope / "dropout1", o.dropout),
      dropout2(scope / "dropout2", o.dropout),
      layer_(scope.name_or("block")) {}

Tensor TransformerBlock::operator()(Tensor x, const AttentionMasks& masks) const {
  const LayerScope here(layer_);
  x = x + dropout1(self_attn(norm1(x), masks));
  return here.output(x + dropout2(linear2(gelu(linear1(norm2(x))))));
}

}  // namespace xtape::inline XTAPE_FLAVOUR
