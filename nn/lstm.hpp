// Long short-term memory (Hochreiter and Schmidhuber 1997; with forget gates, Gers et al. 2000).
#pragma once

#include <xtape/nn/recurrent.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct LSTMCellOptions {
  bool bias = true;
  std::optional<double> forget_bias = {};  ///< see LSTMOptions
  RecurrentInit init = {};
};

/// One step: i, f, o = sigmoid and g = tanh of W x + b_ih + U h + b_hh; c' = f c + i g, h' = o tanh(c'). Parameters, as
/// torch.nn.LSTMCell, gates in the order i, f, g, o: weight_ih [4H, I], weight_hh [4H, H], bias_ih [4H], bias_hh [4H].
class LSTMCell {
 public:
  /// Throws ValueError if a size is less than 1 or the forget bias not finite or without biases.
  LSTMCell(const Scope& scope, index_t input, index_t hidden, const LSTMCellOptions& options = {});
  LSTMCell(LSTMCell&&) = default;
  LSTMCell(const LSTMCell&) = delete;

  /// x [B, I], h and c [B, H] or empty for zeros -> the next h and c. Throws ShapeError.
  LstmStep operator()(const Tensor& x, const LstmStep& state = {}) const;

  RecurrentParameters parameters;
};

struct LSTMOptions {
  index_t layers = 1;
  bool bias = true;
  bool bidirectional = false;
  double dropout = 0;  ///< of the output of each layer but the last, in training
  /// Start of the forget gate's bias: bias_ih gets it, bias_hh zero. Around 1 (Jozefowicz et al. 2015) to log(T), it
  /// lets early gradients reach back through c. Default: random like the others, as PyTorch.
  std::optional<double> forget_bias = {};
  RecurrentInit init = {};
};

/// States [B, H] of every layer and direction, ordered as in RNNState; each list may be empty for zeros.
struct LSTMState {
  std::vector<Tensor> h;
  std::vector<Tensor> c;

  /// The same values off the tape: gradients end here (truncated backpropagation through time).
  LSTMState detach() const;
};

struct LSTMOutput {
  Tensor y;         ///< [B, T, D H]: the last layer's h, both directions side by side
  LSTMState state;  ///< after the last real step of each sequence; of a reverse direction, after its first
};

/// A stack of LSTM layers over whole sequences, D directions each: x [B, T, I] -> [B, T, D H]. Batch first, unlike
/// PyTorch's default; no projections. Parameters, as torch.nn.LSTM, gates in the order i, f, g, o: weight_ih_l0 [4H,
/// I], weight_hh_l0 [4H, H], bias_ih_l0 [4H], bias_hh_l0 [4H], then the same with _l0_reverse, _l1, ...; layers above
/// the first have D H inputs.
class LSTM {
 public:
  /// Throws ValueError if a size is less than 1, the dropout no probability or the forget bias not finite or without
  /// biases.
  LSTM(const Scope& scope, index_t input, index_t hidden, const LSTMOptions& options = {});
  LSTM(LSTM&&) = default;
  LSTM(const LSTM&) = delete;

  /// `lengths` [B] are the real steps of each sequence, 0..T, or empty for all; see HiddenSequence for what padding
  /// means. Throws ShapeError, or IndexError for a length.
  LSTMOutput operator()(const Tensor& x, const LSTMState& state = {}, const IndexArray& lengths = {}) const;

  const std::vector<RecurrentParameters>& parameters() const { return stack_.parameters(); }

 private:
  RecurrentStack stack_;
};

}  // namespace xtape::inline XTAPE_DTYPE
