// Gated recurrent unit (Cho et al. 2014).
#pragma once

#include <xtape/nn/recurrent.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct GRUCellOptions {
  GruReset reset = GruReset::after;  ///< `before` is the form of Cho et al. 2014, which PyTorch lacks
  bool bias = true;
  RecurrentInit init = {};
};

/// One step of a GRU: r, z = sigmoid(W x + b_ih + U h + b_hh), n = tanh(W_n x + b_in + r (U_n h + b_hn)), h' = (1 - z)
/// n + z h. z = 1 keeps the state. Parameters, named as in torch.nn.GRUCell, with the gates in the order r, z, n:
/// weight_ih [3H, I], weight_hh [3H, H], bias_ih [3H], bias_hh [3H].
class GRUCell {
 public:
  /// Throws ValueError if a size is less than 1.
  GRUCell(const Scope& scope, index_t input, index_t hidden, const GRUCellOptions& o = {})
      : parameters(scope, "", {.gates = 3, .input = input, .hidden = hidden, .bias = o.bias, .init = o.init}),
        reset_(o.reset) {}

  /// x [B, I], h [B, H] (undefined means zeros) -> the next h [B, H]. Throws ShapeError.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const {
    const LayerScope here(parameters.layer);
    return gru_cell(x, h, parameters.weights(), reset_);
  }

  RecurrentParameters parameters;

 private:
  GruReset reset_;
};

struct GRUOptions {
  index_t layers = 1;
  GruReset reset = GruReset::after;  ///< `before` is the form of Cho et al. 2014, which PyTorch lacks
  bool bias = true;
  bool bidirectional = false;
  double dropout = 0;  ///< probability for the outputs of each layer but the last, in training mode
  RecurrentInit init = {};
};

/// A stack of GRU layers: x [B, T, I] -> [B, T, D H]; see RecurrentStack. Parameters, named as in torch.nn.GRU, with
/// the gates in the order r, z, n: weight_ih_l0 [3H, I], weight_hh_l0 [3H, H], bias_ih_l0 [3H], bias_hh_l0 [3H]; other
/// layers and directions have the suffixes _l0_reverse, _l1, ...
class GRU : public RecurrentStack {
 public:
  /// Throws ValueError if a size is less than 1 or the dropout is not a probability.
  GRU(const Scope& scope, index_t input, index_t hidden, const GRUOptions& o = {})
      : RecurrentStack(scope,
                       {.name = "gru", .layers = o.layers, .bidirectional = o.bidirectional, .dropout = o.dropout},
                       {.gates = 3, .input = input, .hidden = hidden, .bias = o.bias, .init = o.init},
                       [reset = o.reset](const auto& x, const auto& h, const auto&, const auto& weights,
                                         const auto& options) { return gru(x, h, weights, reset, options); }) {}
};

}  // namespace xtape::inline XTAPE_DTYPE
