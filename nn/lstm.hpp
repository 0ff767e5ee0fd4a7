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
  LSTMCell(const Scope& scope, index_t input, index_t hidden, const LSTMCellOptions& o = {})
      : parameters(scope, "",
                   {.gates = 4,
                    .input = input,
                    .hidden = hidden,
                    .bias = o.bias,
                    .init = o.init,
                    .forget_bias = o.forget_bias}) {}

  /// x [B, I], h and c [B, H] (undefined means zeros) -> the next h and c. Throws ShapeError.
  LstmStep operator()(const Tensor& x, const LstmStep& state = {}) const {
    const LayerScope here(parameters.layer);
    return lstm_cell(x, state.h, state.c, parameters.weights());
  }

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

/// A stack of LSTM layers without projections: x [B, T, I] -> [B, T, D H]; see RecurrentStack. Parameters, named as in
/// torch.nn.LSTM, with the gates in the order i, f, g, o: weight_ih_l0 [4H, I], weight_hh_l0 [4H, H], bias_ih_l0 [4H],
/// bias_hh_l0 [4H]; other layers and directions have the suffixes _l0_reverse, _l1, ...
class LSTM : public RecurrentStack {
 public:
  /// Throws ValueError if a size is less than 1, if the dropout is not a probability, or if the forget bias is not
  /// finite or is given without `bias`.
  LSTM(const Scope& scope, index_t input, index_t hidden, const LSTMOptions& o = {})
      : RecurrentStack(
            scope,
            {.name = "lstm", .layers = o.layers, .bidirectional = o.bidirectional, .dropout = o.dropout, .cells = true},
            {.gates = 4,
             .input = input,
             .hidden = hidden,
             .bias = o.bias,
             .init = o.init,
             .forget_bias = o.forget_bias},
            lstm) {}
};

}  // namespace xtape::inline XTAPE_DTYPE
