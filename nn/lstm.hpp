// Long short-term memory (Hochreiter and Schmidhuber 1997; forget gates by Gers et al. 2000).
#pragma once

#include <xtape/nn/recurrent.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct LSTMCellOptions {
  bool bias = true;
  std::optional<double> forget_bias = {};  ///< see LSTMOptions
  RecurrentInit init = {};
};

/// One step of an LSTM: i, f, o = sigmoid and g = tanh of W x + b_ih + U h + b_hh; c' = f c + i g, h' = o tanh(c').
/// Parameters, named as in torch.nn.LSTMCell, with the gates in the order i, f, g, o: weight_ih [4H, I], weight_hh
/// [4H, H], bias_ih [4H], bias_hh [4H].
class LSTMCell {
 public:
  /// Throws ValueError if a size is less than 1, or if the forget bias is not finite or is given without `bias`.
  LSTMCell(const Scope& scope, index_t input, index_t hidden, const LSTMCellOptions& options = {});
  LSTMCell(LSTMCell&&) = default;
  LSTMCell(const LSTMCell&) = delete;

  /// x [B, I], h and c [B, H] (undefined means zeros) -> the next h and c. Throws ShapeError.
  LstmStep operator()(const Tensor& x, const LstmStep& state = {}) const;

  RecurrentParameters parameters;
};

struct LSTMOptions {
  index_t layers = 1;
  bool bias = true;
  bool bidirectional = false;
  double dropout = 0;  ///< probability for the outputs of each layer but the last, in training mode
  /// Initial bias of the forget gate: bias_ih starts at this value, bias_hh at zero. Values from about 1 (Jozefowicz et
  /// al. 2015) to log(T) let gradients flow back through c at the start of training. Default: initialized like the
  /// other biases, as in PyTorch.
  std::optional<double> forget_bias = {};
  RecurrentInit init = {};
};

/// States [B, H] of every layer and direction, in the order of RNNState. An empty list means zeros.
struct LSTMState {
  std::vector<Tensor> h;
  std::vector<Tensor> c;

  /// Returns these states without gradient tracking, for truncated backpropagation through time.
  LSTMState detach() const;
};

struct LSTMOutput {
  Tensor y;         ///< [B, T, D H]: h of the last layer, both directions concatenated
  LSTMState state;  ///< after the last unpadded step of each sequence; of a reverse direction, after the first
};

/// A stack of LSTM layers over whole sequences, with D directions each (1, or 2 if bidirectional): x [B, T, I] ->
/// [B, T, D H]. Batch first, unlike PyTorch's default; no projections. Parameters, named as in torch.nn.LSTM, with the
/// gates in the order i, f, g, o: weight_ih_l0 [4H, I], weight_hh_l0 [4H, H], bias_ih_l0 [4H], bias_hh_l0 [4H]; other
/// layers and directions have the suffixes _l0_reverse, _l1, ... Layers above the first have D H inputs.
class LSTM {
 public:
  /// Throws ValueError if a size is less than 1, if the dropout is not a probability, or if the forget bias is not
  /// finite or is given without `bias`.
  LSTM(const Scope& scope, index_t input, index_t hidden, const LSTMOptions& options = {});
  LSTM(LSTM&&) = default;
  LSTM(const LSTM&) = delete;

  /// `lengths` [B], each 0..T, gives the number of unpadded steps of each sequence; empty means T for all. See
  /// HiddenSequence for the effect of padding. Throws ShapeError, or IndexError for a length outside 0..T.
  LSTMOutput operator()(const Tensor& x, const LSTMState& state = {}, const IndexArray& lengths = {}) const;

  const std::vector<RecurrentParameters>& parameters() const { return stack_.parameters(); }

 private:
  RecurrentStack stack_;
};

}  // namespace xtape::inline XTAPE_DTYPE
