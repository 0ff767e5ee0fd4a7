#include <xtape/core/error.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/models/transformer_lm.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/positional.hpp>

#include <numeric>

namespace xtape::inline XTAPE_FLAVOUR {

namespace {

TransformerConfig checked(const TransformerConfig& c) {
  if (c.vocab < 1 || c.context < 1 || c.layers < 1)
    throw ValueError("transformer_lm", "vocab, context and layers must be at least 1, not " + std::to_string(c.vocab) +
                                           ", " + std::to_string(c.context) + " and " + std::to_string(c.layers));
  return c;
}

Init weight_init(const TransformerConfig& c) {
  switch (c.init) {
    case WeightInit::gpt2:
      return init::gpt2();
    case WeightInit::xavier:
      return init::xavier_uniform();
    case WeightInit::he:
      return init::he_normal();
    case WeightInit::torch:
      break;
  }
  return {};
}

TransformerBlockOptions block_options(const TransformerConfig& c) {
  return {.width = c.width,
          .heads = c.heads,
          .hidden = c.hidden,
          .dropout = c.dropout,
          .bias = c.bias,
          .norm_bias = c.norm_bias,
          .weight_init = weight_init(c),
          .residual_init = c.init == WeightInit::gpt2 ? init::gpt2_residual(c.layers) : Init()};
}

/// Embeddings are not multiplied by their fan, so Xavier and He do not apply to them.
EmbeddingOptions embedding_options(const TransformerConfig& c) {
  return {.init = c.init == WeightInit::torch ? Init() : init::gpt2()};
}

std::optional<Embedding> position_embedding(const Scope& scope, const TransformerConfig& c) {
  if (c.positions != Positions::learned) return std::nullopt;
  return std::optional<Embedding>(std::in_place, scope / "position_embedding", c.context, c.width,
                                  embedding_options(c));
}

std::vector<TransformerBlock> blocks(const Scope& scope, const TransformerConfig& c) {
  std::vector<TransformerBlock> out;
  for (index_t i = 0; i < c.layers; ++i) out.emplace_back(scope / i, block_options(c));
  return out;
}

}  // namespace

TransformerLM::TransformerLM(const Scope& scope, const TransformerConfig& config)
    : config_(checked(config)),
      token_embedding_(scope / "token_embedding", config.vocab, config.width, embedding_options(config)),
      position_embedding_(position_embedding(scope, config)),
      sinusoids_(position_embedding_ ? Array() : sinusoidal_positions(config.context, config.width)),
      dropout_(scope / "dropout", config.dropout),
      layers_(blocks(scope / "layers", config)),
      norm_(scope / "norm", config.width, {.bias = config.norm_bias}) {
  const Scope head = scope / "head";
  const bool head_bias = config.head_bias.value_or(config.bias);
  if (config.tied_head) {
    head.tie("weight", token_embedding_.weight);
    if (head_bias) head_bias_ = head.parameter("bias", {static_cast<std::size_t>(config.vocab)}, init::zeros());
  } else {
    const Init init = weight_init(config);
    head_.emplace(head, config.width, config.vocab,
                  LinearOptions{.bias = head_bias, .weight_init = init, .bias_init = init ? init::zeros() : Init()});
  }
}

Tensor TransformerLM::operator()(const IndexArray& ids) const {
  if (ids.dimension() != 2 || static_cast<index_t>(ids.shape()[1]) > config_.context)
    fail_shapes<Shape>("transformer_lm", "ids must be [B, T] with T at most " + std::to_string(config_.context),
                       {ids.shape()});
  const auto length = static_cast<index_t>(ids.shape()[1]);
  Tensor positions;
  if (position_embedding_) {
    IndexArray steps(Shape{ids.shape()[1]});
    std::iota(steps.begin(), steps.end(), 0);
    positions = (*position_embedding_)(steps);
  } else {
    positions = slice(sinusoids_, 0, 0, length);
  }
  Tensor x = dropout_(token_embedding_(ids) + positions);
  for (const TransformerBlock& layer : layers_) x = layer(x, {.causal = true});
  x = norm_(x);
  if (head_) return (*head_)(x);
  return linear(x, token_embedding_.weight, head_bias_.defined() ? head_bias_.tensor() : Tensor());
}

}  // namespace xtape::inline XTAPE_FLAVOUR
