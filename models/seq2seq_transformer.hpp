// Encoder-decoder transformer (Vaswani et al. 2017), pre-norm.
#pragma once

#include <xtape/models/decoder_block.hpp>
#include <xtape/nn/embedding.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

struct Seq2SeqTransformerConfig {
  index_t source_vocab;
  index_t target_vocab;
  index_t context = 64;  ///< longest source and longest target
  index_t width = 128;   ///< C
  index_t heads = 4;
  index_t encoder_layers = 3;
  index_t decoder_layers = 3;
  index_t hidden = 0;  ///< width of the feedforward network of each block; 0 means 4 C
  double dropout = 0;  ///< probability for embeddings, attention weights and residual branches, in training mode
  AttentionConfig attention = {};  ///< of all attention layers; the embeddings have sinusoidal positions in any case
};

/// Maps source ids [B, S] and target ids [B, T] to the logits [B, T, target_vocab] of the token that follows each
/// target. The padding of the source is masked in the encoder and in cross-attention, and touches no value and no
/// gradient, whatever its embeddings are. Self-attention in the decoder is causal. Targets are padded on the right,
/// so they need no padding mask.
///
/// Parameters: source_embedding.weight, target_embedding.weight, encoder.layers.N.* (see TransformerBlock),
/// encoder.norm.*, decoder.layers.N.* (see DecoderBlock), decoder.norm.*, head.*.
class Seq2SeqTransformer {
 public:
  /// Throws ValueError if a size is less than 1 or the heads do not divide the width.
  Seq2SeqTransformer(const Scope& scope, const Seq2SeqTransformerConfig& config);

  /// `source_padding` [B, S] (true: padding) or empty. Throws ShapeError, or IndexError for an id outside the
  /// vocabulary.
  Tensor operator()(const IndexArray& source, const Mask& source_padding, const IndexArray& target) const;

  /// The two halves of the model: encode maps source ids [B, S] to the memory [B, S, C]; decode maps target ids [B, T]
  /// and the memory to logits [B, T, target_vocab].
  Tensor encode(const IndexArray& source, const Mask& source_padding) const;
  Tensor decode(const IndexArray& target, const Tensor& memory, const Mask& source_padding) const;

  /// The cross-attention weights of each target position over the source positions, averaged over layers and heads:
  /// [B, T, S].
  Array attention_to_source(const IndexArray& source, const Mask& source_padding, const IndexArray& target) const;

  /// State of incremental decoding, without gradient tracking.
  struct Decoding {
    std::vector<AttentionCache> layers;
    std::vector<CrossAttentionCache> memory;

    void select(const IndexArray& rows);  ///< target b continues from a copy of target rows[b] of the same source
  };
  /// Encodes the sources and starts `beams` targets for each: row b * beams + i belongs to source b.
  Decoding start(const IndexArray& source, const Mask& source_padding, index_t beams = 1) const;
  /// The logits [B, T, target_vocab] after the next target tokens [B, T]. Updates the state. Throws ShapeError beyond
  /// the context.
  Tensor step(const IndexArray& target, Decoding& decoding) const;

  const Seq2SeqTransformerConfig& config() const { return config_; }
  const std::vector<TransformerBlock>& encoder() const { return encoder_; }
  const std::vector<DecoderBlock>& decoder() const { return decoder_; }

 private:
  Tensor embedded(const Embedding& embedding, const IndexArray& ids, index_t first, const Dropout& dropout) const;

  Seq2SeqTransformerConfig config_;
  Embedding source_embedding_;
  Embedding target_embedding_;
  Array sinusoids_;  // [context, width]
  Dropout source_dropout_;
  Dropout target_dropout_;
  std::vector<TransformerBlock> encoder_;
  LayerNorm encoder_norm_;
  std::vector<DecoderBlock> decoder_;
  LayerNorm decoder_norm_;
  Linear head_;
};

}  // namespace xtape::inline XTAPE_DTYPE
