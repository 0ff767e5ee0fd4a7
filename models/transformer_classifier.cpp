#include <xtape/core/error.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/mask.hpp>
#include <xtape/core/ops/reduce.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/models/padding.hpp>
#include <xtape/models/transformer_classifier.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/positions.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

TransformerClassifierConfig checked(const TransformerClassifierConfig& c) {
  if (c.vocab < 1 || c.classes < 1 || c.context < 1 || c.layers < 1)
    throw ValueError("transformer_classifier", "vocab, classes, context and layers of at least 1", c.vocab, c.classes,
                     c.context, c.layers);
  return c;
}

std::vector<TransformerBlock> blocks(const Scope& scope, const TransformerClassifierConfig& c) {
  std::vector<TransformerBlock> out;
  for (index_t i = 0; i < c.layers; ++i)
    out.emplace_back(scope / i, TransformerBlockOptions{.width = c.width,
                                                        .heads = c.heads,
                                                        .attention = c.attention,
                                                        .hidden = c.hidden,
                                                        .dropout = c.dropout,
                                                        .weight_init = init::xavier_uniform()});
  return out;
}

}  // namespace

TransformerClassifier::TransformerClassifier(const Scope& scope, const TransformerClassifierConfig& config)
    : config_(checked(config)),
      embedding_(scope / "embedding", config.vocab, config.width,
                 {.init = init::normal(0, 1 / std::sqrt(static_cast<double>(config.width)))}),
      sinusoids_(sinusoidal_positions(config.context, config.width)),
      dropout_(scope / "dropout", config.dropout),
      layers_(blocks(scope / "layers", config)),
      norm_(scope / "norm", config.width),
      head_dropout_(scope / "head_dropout", config.dropout),
      head_(scope / "head", config.width, config.classes,
            {.weight_init = init::xavier_uniform(), .bias_init = init::zeros()}) {}

/// Pools x [B, T, C] over the positions to [B, C].
Tensor TransformerClassifier::pooled(const Tensor& x, const Mask& padding) const {
  if (config_.pooling == Pooling::first) {
    Tensor first = squeeze(slice(x, 1, 0, 1), {1});
    if (padding.dimension() == 0) return first;
    Mask hidden = empty_array<Mask>({x.size(0), 1});
    for (std::size_t b = 0; b < hidden.size(); ++b) hidden(b, 0) = padding(b, 0);
    return masked_fill(first, hidden, 0);
  }
  if (padding.dimension() == 0) return mean(x, {1});
  Mask hidden = padding;
  hidden.reshape(Shape{x.size(0), x.size(1), 1}.unsigned_sizes());
  Array shares = empty_array({x.size(0), 1});  // 1 / number of unpadded positions
  for (index_t b = 0; b < numel(shares); ++b) {
    const bool* row = padding.data() + b * x.size(1);
    const auto real_ones = std::count(row, row + x.size(1), false);
    shares.data()[b] = real_ones > 0 ? real(1) / static_cast<real>(real_ones) : 0;
  }
  return sum(masked_fill(x, hidden, 0), {1}) * Tensor(std::move(shares));
}

Tensor TransformerClassifier::operator()(const IndexArray& ids, const Mask& padding) const {
  if (ids.dimension() != 2 || shape_of(ids)[1] > config_.context || ids.shape()[1] == 0)
    throw ShapeError("transformer_classifier", "ids [B, T] with T from 1 to " + std::to_string(config_.context),
                     ids.shape());
  const real scale = static_cast<real>(std::sqrt(static_cast<double>(config_.width)));
  const Tensor positions = slice(sinusoids_, 0, 0, shape_of(ids)[1]);
  Tensor x = dropout_(without_padding("transformer_classifier", embedding_(ids) * scale + positions, padding));
  for (const TransformerBlock& layer : layers_) x = layer(x, {.key_padding = padding});
  return head_(head_dropout_(pooled(norm_(x), padding)));
}

}  // namespace xtape::inline XTAPE_DTYPE
