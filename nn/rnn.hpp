// Vanilla recurrent network (Elman 1990).
#pragma once

#include <xtape/nn/recurrent.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct RNNCellOptions {
  Nonlinearity nonlinearity = Nonlinearity::tanh;       ///< also relu and, unlike PyTorch, sigmoid
  NonlinearityPlace place = NonlinearityPlace::inside;  ///< `outside`, the other parametrisation, is not in PyTorch
  bool bias = true;
  RecurrentInit init = {};
};

/// One step: h_t = s(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh), or with the nonlinearity outside W_ih x_t + b_ih +
/// W_hh s(h_{t-1}) + b_hh. Parameters, as torch.nn.RNNCell: weight_ih [H, I], weight_hh [H, H], bias_ih [H], bias_hh
/// [H].
class RNNCell {
 public:
  /// Throws ValueError if a size is less than 1.
  RNNCell(const Scope& scope, index_t input, index_t hidden, const RNNCellOptions& options = {});
  RNNCell(RNNCell&&) = default;
  RNNCell(const RNNCell&) = delete;

  /// x [B, I], h [B, H] or empty for zeros -> the next h [B, H]. Throws ShapeError.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;

  RecurrentParameters parameters;

 private:
  RnnForm form_;
};

struct RNNOptions {
  index_t layers = 1;
  Nonlinearity nonlinearity = Nonlinearity::tanh;       ///< also relu and, unlike PyTorch, sigmoid
  NonlinearityPlace place = NonlinearityPlace::inside;  ///< `outside`, the other parametrisation, is not in PyTorch
  bool bias = true;
  bool bidirectional = false;
  double dropout = 0;  ///< of the output of each layer but the last, in training
  RecurrentInit init = {};
};

struct RNNOutput {
  Tensor y;        ///< [B, T, D H]: the last layer's states, both directions side by side
  RNNState state;  ///< after the last real step of each sequence; of a reverse direction, after its first
};

/// A stack of vanilla layers over whole sequences, D directions each: x [B, T, I] -> [B, T, D H]. Batch first, unlike
/// PyTorch's default. Parameters, as torch.nn.RNN: weight_ih_l0 [H, I], weight_hh_l0 [H, H], bias_ih_l0 [H], bias_hh_l0
/// [H], then the same with _l0_reverse, _l1, ...; layers above the first have D H inputs.
class RNN {
 public:
  /// Throws ValueError if a size is less than 1 or the dropout no probability.
  RNN(const Scope& scope, index_t input, index_t hidden, const RNNOptions& options = {});
  RNN(RNN&&) = default;
  RNN(const RNN&) = delete;

  /// `lengths` [B] are the real steps of each sequence, 0..T, or empty for all; see HiddenSequence for what padding
  /// means. Throws ShapeError, or IndexError for a length.
  RNNOutput operator()(const Tensor& x, const RNNState& state = {}, const IndexArray& lengths = {}) const;

  const std::vector<RecurrentParameters>& parameters() const { return stack_.parameters(); }

 private:
  RnnForm form_;
  RecurrentStack stack_;
};

}  // namespace xtape::inline XTAPE_DTYPE
