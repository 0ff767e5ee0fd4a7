// Recurrent language model over characters.
#pragma once

#include <xtape/nn/dropout.hpp>
#include <xtape/nn/embedding.hpp>
#include <xtape/nn/linear.hpp>
#include <xtape/nn/recurrent.hpp>

#include <string_view>

namespace xtape::inline XTAPE_DTYPE {

enum class CellKind { rnn, gru, lstm };

/// The kind of this name: rnn, gru or lstm. Throws ValueError for another name.
CellKind parse_cell_kind(std::string_view name);

struct CharRNNConfig {
  index_t vocab;
  CellKind cell = CellKind::lstm;
  index_t embedding = 64;  ///< width of the embedding of a character
  index_t hidden = 128;    ///< H, the width of a hidden state
  index_t layers = 1;
  double dropout = 0;  ///< probability between layers and before the output layer, in training mode
  RecurrentInit init = {};
  std::optional<double> forget_bias = {};  ///< lstm only; see LSTMOptions
};

struct CharRNNOutput {
  Tensor logits;  ///< [B, T, vocab]: logits of the character that follows each input
  RecurrentState state;
};

/// Maps ids [B, T] to the logits [B, T, vocab] of the characters that follow. `state` is the state after the preceding
/// characters. A state passed from one call to the next carries gradients; RecurrentState::detach() ends them.
/// Parameters: embedding.weight, rnn.* (see RNN, GRU, LSTM), head.*.
class CharRNN {
 public:
  /// Throws ValueError if a size is less than 1, if the dropout is not a probability, or if a forget bias is given for
  /// a cell other than lstm.
  CharRNN(const Scope& scope, const CharRNNConfig& config);

  /// Throws ShapeError if ids or state have the wrong shape, IndexError for an id outside the vocabulary.
  CharRNNOutput operator()(const IndexArray& ids, const RecurrentState& state = {}) const;

  const CharRNNConfig& config() const { return config_; }

 private:
  CharRNNConfig config_;
  Embedding embedding_;
  RecurrentStack layers_;
  Dropout dropout_;
  Linear head_;
};

}  // namespace xtape::inline XTAPE_DTYPE
