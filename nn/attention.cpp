#include <xtape/core/error.hpp>
#include <xtape/nn/attention.hpp>
#include <xtape/nn/init.hpp>

namespace xtape::inline XTAPE_FLAVOUR {

namespace {

MultiHeadAttentionOptions checked(const Scope& scope, const MultiHeadAttentionOptions& o) {
  if (o.heads < 1 || o.width < 1 || o.width % o.heads != 0)
    throw ValueError("attention " + scope.name(),
                     std::to_string(o.heads) + " heads do not divide the width " + std::to_string(o.width));
  check_probability("attention", o.dropout);
  return o;
}

LinearOptions out_options(const MultiHeadAttentionOptions& o) {
  LinearOptions out = o.out_proj;
  out.bias = o.bias;
  if (!out.bias_init) out.bias_init = init::zeros();
  return out;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const MultiHeadAttentionOptions& options)
    : in_proj_weight(scope.parameter(
          "in_proj_weight",
          {static_cast<std::size_t>(3 * checked(scope, options).width), static_cast<std::size_t>(options.width)},
          options.in_proj_init ? options.in_proj_init : init::xavier_uniform())),
      in_proj_bias(options.bias
                       ? scope.parameter("in_proj_bias", {static_cast<std::size_t>(3 * options.width)}, init::zeros())
                       : Parameter()),
      out_proj(scope / "out_proj", options.width, options.width, out_options(options)),
      scope_(scope),
      layer_(scope.name_or("attention")),
      heads_(options.heads),
      dropout_(options.dropout),
      dropout_masks_(scope.masks()) {}

Tensor MultiHeadAttention::operator()(const Tensor& x, const AttentionMasks& masks) const {
  const LayerScope here(layer_);
  const Tensor qkv = linear(x, in_proj_weight, in_proj_bias.defined() ? in_proj_bias.tensor() : Tensor());
  const bool drops = scope_.training() && dropout_ > 0;
  return here.output(out_proj(self_attention(qkv, heads_,
                                             {.causal = masks.causal,
                                              .key_padding = masks.key_padding,
                                              .mask = masks.mask,
                                              .dropout = drops ? dropout_ : 0,
                                              .dropout_key = drops ? dropout_masks_.next() : MaskKey{}})));
}

}  // namespace xtape::inline XTAPE_FLAVOUR
