// Recurrent encoder-decoder with additive attention (Bahdanau, Cho, Bengio 2015).
#pragma once

#include <xtape/nn/dropout.hpp>
#include <xtape/nn/embedding.hpp>
#include <xtape/nn/gru.hpp>
#include <xtape/nn/linear.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct Seq2SeqRNNConfig {
  index_t source_vocab;
  index_t target_vocab;
  index_t embedding = 64;  ///< width of the embedding of a token
  index_t hidden = 128;    ///< H, the width of the decoder and of each direction of the encoder
  double dropout = 0;      ///< probability for the embeddings and before the output layer, in training mode
};

/// Maps source ids [B, S] and target ids [B, T] to the logits [B, T, target_vocab] of the token that follows each
/// target. The encoder is a bidirectional GRU with outputs h_j [B, S, 2H]. The decoder is s_t =
/// GRU([y_t, c_t], s_{t-1}) with s_0 = tanh(V h_1) from the state h_1 of the reverse direction. The context c_t is the
/// mean of the h_j weighted by the softmax of w.tanh(W s_{t-1} + U h_j). The output layer reads [s_t, c_t, y_t].
///
/// Parameters: source_embedding.*, target_embedding.*, encoder.*, bridge.*, query_proj.weight, key_proj.weight,
/// score_weight [1, H], decoder.*, head.*.
class Seq2SeqRNN {
 public:
  /// Throws ValueError if a size is less than 1 or the dropout is not a probability.
  Seq2SeqRNN(const Scope& scope, const Seq2SeqRNNConfig& config);

  /// `source_padding` [B, S] (true: padding, which must be on the right) or empty. Throws ShapeError, IndexError for an
  /// id outside the vocabulary, ValueError for padding that is not on the right.
  Tensor operator()(const IndexArray& source, const Mask& source_padding, const IndexArray& target) const;

  /// The attention weights of each target position over the source positions: [B, T, S].
  Array attention_to_source(const IndexArray& source, const Mask& source_padding, const IndexArray& target) const;

  /// State of incremental decoding.
  struct Decoding {
    Tensor memory, keys;  ///< encoder outputs [B, 1, S, 2H] and their projections by U [B, 1, S, H]
    Mask source_padding = {};
    Tensor state;  ///< [B, H]

    void select(const IndexArray& rows);  ///< target b continues from target rows[b] of the same source
  };
  /// Encodes the sources and starts `beams` targets for each: row b * beams + i belongs to source b.
  Decoding start(const IndexArray& source, const Mask& source_padding, index_t beams = 1) const;
  /// The logits [B, T, target_vocab] after the next target tokens [B, T]. Updates the state.
  Tensor step(const IndexArray& target, Decoding& decoding) const;

  const Seq2SeqRNNConfig& config() const { return config_; }

 private:
  /// Runs the decoder over the target. Appends the attention weights [B, S] of each step to `weights` unless it is
  /// null.
  Tensor run(const IndexArray& target, Decoding& decoding, std::vector<Tensor>* weights) const;

  Seq2SeqRNNConfig config_;
  Embedding source_embedding_;
  Embedding target_embedding_;
  Dropout source_dropout_;
  Dropout target_dropout_;
  GRU encoder_;
  Linear bridge_;
  Linear query_proj_;
  Linear key_proj_;
  Parameter score_weight_;
  GRUCell decoder_;
  Dropout head_dropout_;
  Linear head_;
};

}  // namespace xtape::inline XTAPE_DTYPE
