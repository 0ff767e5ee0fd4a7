// Encoder-decoder transformer (Vaswani et al. 2017), pre-norm.
#pragma once

#include <xtape/models/decoder_block.hpp>
#include <xtape/nn/embedding.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

struct Seq2SeqTransformerConfig {
  index_t source_vocab;
  index_t target_vocab;
  index_t context = 64;  ///< the longest sequence on either side
  index_t width = 128;
  index_t heads = 4;
  index_t encoder_layers = 3;
  index_t decoder_layers = 3;
  index_t hidden = 0;  ///< of the blocks' inner networks; 0 means 4 width
  double dropout = 0;
  AttentionConfig attention = {};  ///< of all attention; positions are sinusoids added to the embeddings
};

/// source ids [B, S], target ids [B, T] -> logits [B, T, target_vocab] of the target after each. Three masks: padding
/// of the source is hidden from the encoder and from the decoder's attention to it, and a target position sees those up
/// to itself. Targets are padded on the right, so they need no mask of their own. Parameters: source_embedding.weight,
/// target_embedding.weight, encoder.layers.N.* (see TransformerBlock), encoder.norm.*, decoder.layers.N.* (see
/// DecoderBlock), decoder.norm.*, head.*.
class Seq2SeqTransformer {
 public:
  /// Throws ValueError if a size is less than 1 or the heads do not divide the width.
  Seq2SeqTransformer(const Scope& scope, const Seq2SeqTransformerConfig& config);

  /// `source_padding` [B, S], true: hidden; or empty. Throws ShapeError, or IndexError for an id.
  Tensor operator()(const IndexArray& source, const Mask& source_padding, const IndexArray& target) const;

  /// The two halves: ids [B, S] -> memory [B, S, C], and from there on.
  Tensor encode(const IndexArray& source, const Mask& source_padding) const;
  Tensor decode(const IndexArray& target, const Tensor& memory, const Mask& source_padding) const;

  /// How much each target position attends to each source position, the mean over layers and heads: [B, T, S].
  Array attention_to_source(const IndexArray& source, const Mask& source_padding, const IndexArray& target) const;

  /// What decoding one token at a time carries on: nothing of it is recorded.
  struct Decoding {
    std::vector<AttentionCache> layers;
    std::vector<CrossAttentionCache> memory;

    void select(const IndexArray& rows);  ///< target b goes on as a copy of target rows[b] of the same source
  };
  /// Encodes the sources and starts `beams` targets for each: row b * beams + i is of source b.
  Decoding start(const IndexArray& source, const Mask& source_padding, index_t beams = 1) const;
  /// Logits [B, T, target_vocab] after the next target tokens [B, T]. Throws ValueError beyond the context.
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
