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
  index_t embedding = 64;  ///< width of a symbol's vector
  index_t hidden = 128;    ///< H of the decoder and of each direction of the encoder
  double dropout = 0;      ///< of the embeddings and before the output layer, in training
};

/// source ids [B, S], target ids [B, T] -> logits [B, T, target_vocab] of the target after each. The encoder is a GRU
/// in both directions, memory h_j [B, S, 2H]; the decoder s_t = GRU([y_t, c_t], s_{t-1}), where c_t mixes the memory by
/// the softmax of w.tanh(W s_{t-1} + U h_j); s_0 = tanh(V h_1 of the reverse direction); logits from [s_t, c_t, y_t].
/// Parameters: source_embedding.*, target_embedding.*, encoder.*, bridge.*, query_proj.weight, key_proj.weight,
/// score_weight [1, H], decoder.*, head.*.
class Seq2SeqRNN {
 public:
  /// Throws ValueError if a size is less than 1 or the dropout is no probability.
  Seq2SeqRNN(const Scope& scope, const Seq2SeqRNNConfig& config);

  /// `source_padding` [B, S], true: hidden, on the right only; or empty. Throws ShapeError, or IndexError for an id.
  Tensor operator()(const IndexArray& source, const Mask& source_padding, const IndexArray& target) const;

  /// How much each target position attends to each source position: [B, T, S].
  Array attention_to_source(const IndexArray& source, const Mask& source_padding, const IndexArray& target) const;

  /// What decoding one token at a time carries on.
  struct Decoding {
    Tensor memory, keys;  ///< [B, 1, S, 2H] and, through U, [B, 1, S, H]
    Mask source_padding = {};
    Tensor state;  ///< [B, H]

    void select(const IndexArray& rows);  ///< target b goes on as target rows[b] of the same source
  };
  /// Encodes the sources and starts `beams` targets for each: row b * beams + i is of source b.
  Decoding start(const IndexArray& source, const Mask& source_padding, index_t beams = 1) const;
  /// Logits [B, T, target_vocab] after the next target tokens [B, T].
  Tensor step(const IndexArray& target, Decoding& decoding) const;

  const Seq2SeqRNNConfig& config() const { return config_; }

 private:
  /// Steps through the target; `weights`, unless null, gets each step's attention [B, S].
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
