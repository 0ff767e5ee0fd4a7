#include <xtape/core/error.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/indexing.hpp>
#include <xtape/models/transformer_lm.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/positions.hpp>

#include <algorithm>
#include <numeric>

namespace xtape::inline XTAPE_DTYPE {

namespace {

TransformerLMConfig checked(const TransformerLMConfig& c) {
  if (c.vocab < 1 || c.context < 1 || c.layers < 1)
    throw ValueError("transformer_lm", "vocab, context and layers of at least 1", c.vocab, c.context, c.layers);
  return c;
}

Init weight_init(const TransformerLMConfig& c) {
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

AttentionConfig attention_of(const TransformerLMConfig& c) {
  AttentionConfig config = c.attention;
  config.positions = c.positions == Positions::rotary  ? AttentionPositions::rotary
                     : c.positions == Positions::alibi ? AttentionPositions::alibi
                                                       : AttentionPositions::none;
  return config;
}

TransformerBlockOptions block_options(const TransformerLMConfig& c) {
  return {.width = c.width,
          .heads = c.heads,
          .attention = attention_of(c),
          .hidden = c.hidden,
          .dropout = c.dropout,
          .bias = c.bias,
          .norm_bias = c.norm_bias,
          .weight_init = weight_init(c),
          .residual_init = c.init == WeightInit::gpt2 ? init::gpt2_residual(c.layers) : Init()};
}

/// An embedding does not sum over its rows, so the fan-based Xavier and He initializers do not apply to it.
EmbeddingOptions embedding_options(const TransformerLMConfig& c) {
  return {.init = c.init == WeightInit::torch ? Init() : init::gpt2()};
}

std::optional<Embedding> position_embedding(const Scope& scope, const TransformerLMConfig& c) {
  if (c.positions != Positions::learned) return std::nullopt;
  return std::optional<Embedding>(std::in_place, scope / "position_embedding", c.context, c.width,
                                  embedding_options(c));
}

std::vector<TransformerBlock> blocks(const Scope& scope, const TransformerLMConfig& c) {
  std::vector<TransformerBlock> out;
  for (index_t i = 0; i < c.layers; ++i) out.emplace_back(scope / i, block_options(c));
  return out;
}

}  // namespace

Positions parse_positions(std::string_view name) {
  if (name == "learned") return Positions::learned;
  if (name == "sinusoidal") return Positions::sinusoidal;
  if (name == "rotary") return Positions::rotary;
  if (name == "alibi") return Positions::alibi;
  throw ValueError("transformer_lm", "positions learned, sinusoidal, rotary or alibi", "'" + std::string(name) + "'");
}

TransformerLM::TransformerLM(const Scope& scope, const TransformerLMConfig& config)
    : config_(checked(config)),
      token_embedding_(scope / "token_embedding", config.vocab, config.width, embedding_options(config)),
      position_embedding_(position_embedding(scope, config)),
      sinusoids_(config.positions == Positions::sinusoidal ? sinusoidal_positions(config.context, config.width)
                                                           : Array()),
      dropout_(scope / "dropout", config.dropout),
      layers_(blocks(scope / "layers", config)),
      norm_(scope / "norm", config.width, {.bias = config.norm_bias}) {
  const Scope head = scope / "head";
  const bool head_bias = config.head_bias.value_or(config.bias);
  if (config.tied_head) {
    head.tie("weight", token_embedding_.weight);
    if (head_bias) head_bias_ = head.parameter("bias", {config.vocab}, init::zeros());
  } else {
    const Init init = weight_init(config);
    head_.emplace(head, config.width, config.vocab,
                  LinearOptions{.bias = head_bias, .weight_init = init, .bias_init = init ? init::zeros() : Init()});
  }
}

/// Position encodings to add to the embeddings, for positions [T] or [B, T]; undefined if there are none.
Tensor TransformerLM::position_rows(const IndexArray& positions) const {
  if (position_embedding_) return (*position_embedding_)(positions);
  return config_.positions == Positions::sinusoidal ? embedding(Tensor(sinusoids_), positions) : Tensor();
}

Tensor TransformerLM::logits(const Tensor& x) const {
  const Tensor normed = norm_(x);
  if (head_) return (*head_)(normed);
  return linear(normed, token_embedding_.weight, head_bias_.defined() ? head_bias_.tensor() : Tensor());
}

/// The input of the first layer.
Tensor TransformerLM::embedded(const IndexArray& ids) const {
  if (ids.dimension() != 2 || shape_of(ids)[1] > config_.context)
    throw ShapeError("transformer_lm", "ids [B, T] with T at most " + std::to_string(config_.context), ids.shape());
  IndexArray steps = empty_array<IndexArray>({shape_of(ids)[1]});
  std::iota(steps.begin(), steps.end(), 0);
  const Tensor tokens = token_embedding_(ids), positions = position_rows(steps);
  return dropout_(positions.defined() ? tokens + positions : tokens);
}

Tensor TransformerLM::operator()(const IndexArray& ids) const {
  Tensor x = embedded(ids);
  for (const TransformerBlock& layer : layers_) x = layer(x, {.causal = true});
  return logits(x);
}

Array TransformerLM::attention_weights(const IndexArray& ids) const {
  if (ids.dimension() != 1 || ids.size() == 0)
    throw ShapeError("transformer_lm", "ids [T] of one sequence with T at least 1", ids.shape());
  IndexArray row = empty_array<IndexArray>({1, numel(ids)});
  std::copy(ids.begin(), ids.end(), row.begin());
  Tensor x = embedded(row).detach();
  Array out = empty_array({std::ssize(layers_), config_.heads, numel(ids), numel(ids)});
  real* next = out.data();
  for (const TransformerBlock& layer : layers_) {
    const Tensor weights = layer.self_attn.weights(layer.norm1(x).detach(), {.causal = true});
    next = std::copy_n(weights.data(), weights.numel(), next);
    x = layer(x, {.causal = true}).detach();
  }
  return out;
}

TransformerCache TransformerLM::cache(index_t batch) const {
  std::vector<AttentionCache> caches;
  for (const TransformerBlock& layer : layers_) caches.push_back(layer.self_attn.cache(batch, config_.context));
  return TransformerCache(std::move(caches));
}

Tensor TransformerLM::step(const IndexArray& ids, TransformerCache& cache, const IndexArray& lengths) const {
  const index_t batch = numel(cache.lengths());
  if (ids.dimension() != 2 || shape_of(ids)[0] != batch)
    throw ShapeError("transformer_lm", "ids [B, T] with B = " + std::to_string(batch), ids.shape());
  IndexArray positions = empty_array<IndexArray>(ids.shape());
  const index_t time = shape_of(ids)[1];
  for (index_t i = 0; i < numel(ids); ++i) {
    const index_t b = i / time, t = i % time, position = cache.lengths().data()[b] + t;
    const bool real_one = lengths.dimension() == 0 || (b < numel(lengths) && t < lengths.data()[b]);
    if (real_one && position >= config_.context)
      throw ValueError("transformer_lm", "at most " + std::to_string(config_.context) + " positions", position + 1);
    positions.data()[i] = std::min(position, config_.context - 1);  // padded positions may take any valid row
  }
  const Tensor tokens = token_embedding_(ids), rows = position_rows(positions);
  Tensor x = rows.defined() ? tokens + rows : tokens;
  for (std::size_t i = 0; i < layers_.size(); ++i) x = layers_[i].step(x, cache.layers[i], lengths);
  return logits(x);
}

void TransformerLM::redraw_features() {
  for (TransformerBlock& layer : layers_) layer.self_attn.redraw_features();
}

index_t TransformerCache::bytes() const {
  index_t sum = 0;
  for (const AttentionCache& layer : layers) sum += layer.bytes();
  return sum;
}

void TransformerCache::select(const IndexArray& rows) {
  for (AttentionCache& layer : layers) layer.select(rows);
}

}  // namespace xtape::inline XTAPE_DTYPE
