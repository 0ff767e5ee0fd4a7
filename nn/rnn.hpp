// Vanilla recurrent network (Elman 1990).
#pragma once

#include <xtape/nn/recurrent.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct RNNCellOptions {
  Nonlinearity nonlinearity = Nonlinearity::tanh;       ///< tanh, relu or, unlike PyTorch, sigmoid
  NonlinearityPlace place = NonlinearityPlace::inside;  ///< `outside` is the other parametrization, which PyTorch lacks
  bool bias = true;
  RecurrentInit init = {};
};

/// One step of a vanilla RNN: h_t = s(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh). With the nonlinearity s outside: h_t =
/// W_ih x_t + b_ih + W_hh s(h_{t-1}) + b_hh. Parameters, named as in torch.nn.RNNCell: weight_ih [H, I], weight_hh
/// [H, H], bias_ih [H], bias_hh [H].
class RNNCell {
 public:
  /// Throws ValueError if a size is less than 1.
  RNNCell(const Scope& scope, index_t input, index_t hidden, const RNNCellOptions& o = {})
      : parameters(scope, "", {.gates = 1, .input = input, .hidden = hidden, .bias = o.bias, .init = o.init}),
        form_{o.nonlinearity, o.place} {}

  /// x [B, I], h [B, H] (undefined means zeros) -> the next h [B, H]. Throws ShapeError.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const {
    const LayerScope here(parameters.layer);
    return rnn_cell(x, h, parameters.weights(), form_);
  }

  RecurrentParameters parameters;

 private:
  RnnForm form_;
};

struct RNNOptions {
  index_t layers = 1;
  Nonlinearity nonlinearity = Nonlinearity::tanh;       ///< tanh, relu or, unlike PyTorch, sigmoid
  NonlinearityPlace place = NonlinearityPlace::inside;  ///< `outside` is the other parametrization, which PyTorch lacks
  bool bias = true;
  bool bidirectional = false;
  double dropout = 0;  ///< probability for the outputs of each layer but the last, in training mode
  RecurrentInit init = {};
};

/// A stack of vanilla RNN layers: x [B, T, I] -> [B, T, D H]; see RecurrentStack. Parameters, named as in torch.nn.RNN:
/// weight_ih_l0 [H, I], weight_hh_l0 [H, H], bias_ih_l0 [H], bias_hh_l0 [H]; other layers and directions have the
/// suffixes _l0_reverse, _l1, ...
class RNN : public RecurrentStack {
 public:
  /// Throws ValueError if a size is less than 1 or the dropout is not a probability.
  RNN(const Scope& scope, index_t input, index_t hidden, const RNNOptions& o = {})
      : RecurrentStack(scope,
                       {.name = "rnn", .layers = o.layers, .bidirectional = o.bidirectional, .dropout = o.dropout},
                       {.gates = 1, .input = input, .hidden = hidden, .bias = o.bias, .init = o.init},
                       [form = RnnForm{o.nonlinearity, o.place}](const auto& x, const auto& h, const auto&,
                                                                 const auto& weights, const auto& options) {
                         return rnn(x, h, weights, form, options);
                       }) {}
};

}  // namespace xtape::inline XTAPE_DTYPE
