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
  RNNCell(const Scope& scope, index_t input, index_t hidden, const RNNCellOptions& options = {});
  RNNCell(RNNCell&&) = default;
  RNNCell(const RNNCell&) = delete;

  /// x [B, I], h [B, H] (undefined means zeros) -> the next h [B, H]. Throws ShapeError.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;

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

struct RNNOutput {
  Tensor y;        ///< [B, T, D H]: the states of the last layer, both directions concatenated
  RNNState state;  ///< after the last unpadded step of each sequence; of a reverse direction, after the first
};

/// A stack of vanilla RNN layers over whole sequences, with D directions each (1, or 2 if bidirectional): x [B, T, I]
/// -> [B, T, D H]. Batch first, unlike PyTorch's default. Parameters, named as in torch.nn.RNN: weight_ih_l0 [H, I],
/// weight_hh_l0 [H, H], bias_ih_l0 [H], bias_hh_l0 [H]; other layers and directions have the suffixes _l0_reverse, _l1,
/// ... Layers above the first have D H inputs.
class RNN {
 public:
  /// Throws ValueError if a size is less than 1 or the dropout is not a probability.
  RNN(const Scope& scope, index_t input, index_t hidden, const RNNOptions& options = {});
  RNN(RNN&&) = default;
  RNN(const RNN&) = delete;

  /// `lengths` [B], each 0..T, gives the number of unpadded steps of each sequence; empty means T for all. See
  /// HiddenSequence for the effect of padding. Throws ShapeError, or IndexError for a length outside 0..T.
  RNNOutput operator()(const Tensor& x, const RNNState& state = {}, const IndexArray& lengths = {}) const;

  const std::vector<RecurrentParameters>& parameters() const { return stack_.parameters(); }

 private:
  RnnForm form_;
  RecurrentStack stack_;
};

}  // namespace xtape::inline XTAPE_DTYPE
