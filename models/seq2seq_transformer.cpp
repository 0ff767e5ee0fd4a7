#include <xtape/core/error.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/reduce.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/models/padding.hpp>
#include <xtape/models/seq2seq_transformer.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/positions.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

Seq2SeqTransformerConfig checked(const Seq2SeqTransformerConfig& c) {
  if (c.source_vocab < 1 || c.target_vocab < 1 || c.context < 1 || c.encoder_layers < 1 || c.decoder_layers < 1)
    throw ValueError("seq2seq_transformer", "vocabularies, context and layers of at least 1", c.source_vocab,
                     c.target_vocab, c.context, c.encoder_layers, c.decoder_layers);
  return c;
}

TransformerBlockOptions block_options(const Seq2SeqTransformerConfig& c) {
  return {.width = c.width,
          .heads = c.heads,
          .attention = c.attention,
          .hidden = c.hidden,
          .dropout = c.dropout,
          .weight_init = init::xavier_uniform()};
}

/// The embeddings are multiplied by sqrt(C) (Vaswani et al. 2017, section 3.4), so this standard deviation gives them
/// the scale of the sinusoids.
EmbeddingOptions embedding_options(const Seq2SeqTransformerConfig& c) {
  return {.init = init::normal(0, 1 / std::sqrt(static_cast<double>(c.width)))};
}

template <class Block>
std::vector<Block> blocks(const Scope& scope, index_t layers, const Seq2SeqTransformerConfig& c) {
  std::vector<Block> out;
  for (index_t i = 0; i < layers; ++i) out.emplace_back(scope / i, block_options(c));
  return out;
}

}  // namespace

Seq2SeqTransformer::Seq2SeqTransformer(const Scope& scope, const Seq2SeqTransformerConfig& config)
    : config_(checked(config)),
      source_embedding_(scope / "source_embedding", config.source_vocab, config.width, embedding_options(config)),
      target_embedding_(scope / "target_embedding", config.target_vocab, config.width, embedding_options(config)),
      sinusoids_(sinusoidal_positions(config.context, config.width)),
      source_dropout_(scope / "source_dropout", config.dropout),
      target_dropout_(scope / "target_dropout", config.dropout),
      encoder_(blocks<TransformerBlock>(scope / "encoder" / "layers", config.encoder_layers, config)),
      encoder_norm_(scope / "encoder" / "norm", config.width),
      decoder_(blocks<DecoderBlock>(scope / "decoder" / "layers", config.decoder_layers, config)),
      decoder_norm_(scope / "decoder" / "norm", config.width),
      head_(scope / "head", config.width, config.target_vocab,
            {.weight_init = init::xavier_uniform(), .bias_init = init::zeros()}) {}

/// Embeddings of the tokens plus the encodings of their positions, which count from `first`.
Tensor Seq2SeqTransformer::embedded(const Embedding& embedding, const IndexArray& ids, index_t first,
                                    const Dropout& dropout) const {
  if (ids.dimension() != 2) throw ShapeError("seq2seq_transformer", "ids [B, T]", ids.shape());
  const index_t end = first + shape_of(ids)[1];
  if (end > config_.context)
    throw ShapeError("seq2seq_transformer", "at most " + std::to_string(config_.context) + " positions", end);
  const real scale = static_cast<real>(std::sqrt(static_cast<double>(config_.width)));
  return dropout(embedding(ids) * scale + slice(sinusoids_, 0, first, end));
}

Tensor Seq2SeqTransformer::encode(const IndexArray& source, const Mask& source_padding) const {
  const Tensor embeddings = embedded(source_embedding_, source, 0, source_dropout_);
  Tensor x = without_padding("seq2seq_transformer", embeddings, source_padding);
  for (const TransformerBlock& layer : encoder_) x = layer(x, {.key_padding = source_padding});
  return encoder_norm_(x);
}

Tensor Seq2SeqTransformer::decode(const IndexArray& target, const Tensor& memory, const Mask& source_padding) const {
  const Tensor seen = without_padding("seq2seq_transformer", memory, source_padding);
  Tensor x = embedded(target_embedding_, target, 0, target_dropout_);
  for (const DecoderBlock& layer : decoder_) x = layer(x, seen, {.causal = true}, {.key_padding = source_padding});
  return head_(decoder_norm_(x));
}

Tensor Seq2SeqTransformer::operator()(const IndexArray& source, const Mask& source_padding,
                                      const IndexArray& target) const {
  return decode(target, encode(source, source_padding), source_padding);
}

Array Seq2SeqTransformer::attention_to_source(const IndexArray& source, const Mask& source_padding,
                                              const IndexArray& target) const {
  const Tensor memory = encode(source, source_padding).detach();
  Tensor x = embedded(target_embedding_, target, 0, target_dropout_).detach(), total;
  for (const DecoderBlock& layer : decoder_) {
    const AttentionMasks causal = {.causal = true}, padded = {.key_padding = source_padding};
    const Tensor weights = mean(layer.memory_weights(x, memory, causal, padded), {1});
    total = total.defined() ? total + weights : weights;
    x = layer(x, memory, causal, padded).detach();
  }
  return (total / static_cast<real>(decoder_.size())).value();
}

Seq2SeqTransformer::Decoding Seq2SeqTransformer::start(const IndexArray& source, const Mask& source_padding,
                                                       index_t beams) const {
  if (beams < 1) throw ValueError("seq2seq_transformer", "at least 1 beam", beams);
  const Tensor encoded = encode(source, source_padding);
  const index_t sources = encoded.size(0), rows = sources * beams;
  const auto copies = [&](const auto& from, auto to) {  // repeats each row of the first axis `beams` times
    const index_t size = numel(from) / sources;
    for (index_t row = 0; row < rows; ++row)
      std::copy_n(from.data() + row / beams * size, size, to.data() + row * size);
    return to;
  };
  Shape shape = encoded.shape();
  shape[0] = rows;
  const Tensor memory(copies(encoded.value(), empty_array(shape)));
  Mask padding;
  if (source_padding.dimension() > 0) padding = copies(source_padding, empty_array<Mask>({rows, encoded.size(1)}));
  Decoding out;
  for (const DecoderBlock& layer : decoder_) {
    out.layers.push_back(layer.self_attn.cache(rows, config_.context));
    out.memory.push_back(layer.multihead_attn.memory_cache(memory, padding));
  }
  return out;
}

Tensor Seq2SeqTransformer::step(const IndexArray& target, Decoding& decoding) const {
  const IndexArray& lengths = decoding.layers.front().lengths();
  Tensor x = embedded(target_embedding_, target, lengths.data()[0], target_dropout_);
  for (std::size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i].step(x, decoding.layers[i], decoding.memory[i]);
  return head_(decoder_norm_(x));
}

void Seq2SeqTransformer::Decoding::select(const IndexArray& rows) {
  for (AttentionCache& layer : layers) layer.select(rows);
}

}  // namespace xtape::inline XTAPE_DTYPE
