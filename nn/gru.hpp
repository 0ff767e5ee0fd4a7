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
  GRUCell(const Scope& scope, index_t input, index_t hidden, const GRUCellOptions& options = {});
  GRUCell(GRUCell&&) = default;
  GRUCell(const GRUCell&) = delete;

  /// x [B, I], h [B, H] (undefined means zeros) -> the next h [B, H]. Throws ShapeError.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;

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

using GRUState = RNNState;

struct GRUOutput {
  Tensor y;        ///< [B, T, D H]: the states of the last layer, both directions concatenated
  GRUState state;  ///< after the last unpadded step of each sequence; of a reverse direction, after the first
};

/// A stack of GRU layers over whole sequences, with D directions each (1, or 2 if bidirectional): x [B, T, I] ->
/// [B, T, D H]. Batch first, unlike PyTorch's default. Parameters, named as in torch.nn.GRU, with the gates in the
/// order r, z, n: weight_ih_l0 [3H, I], weight_hh_l0 [3H, H], bias_ih_l0 [3H], bias_hh_l0 [3H]; other layers and
/// directions have the suffixes _l0_reverse, _l1, ... Layers above the first have D H inputs.
class GRU {
 public:
  /// Throws ValueError if a size is less than 1 or the dropout is not a probability.
  GRU(const Scope& scope, index_t input, index_t hidden, const GRUOptions& options = {});
  GRU(GRU&&) = default;
  GRU(const GRU&) = delete;

  /// `lengths` [B], each 0..T, gives the number of unpadded steps of each sequence; empty means T for all. See
  /// HiddenSequence for the effect of padding. Throws ShapeError, or IndexError for a length outside 0..T.
  GRUOutput operator()(const Tensor& x, const GRUState& state = {}, const IndexArray& lengths = {}) const;

  const std::vector<RecurrentParameters>& parameters() const { return stack_.parameters(); }

 private:
  GruReset reset_;
  RecurrentStack stack_;
};

}  // namespace xtape::inline XTAPE_DTYPE
