// Gated recurrent unit (Cho et al. 2014).
#pragma once

#include <xtape/nn/recurrent.hpp>

namespace xtape::inline XTAPE_DTYPE {

struct GRUCellOptions {
  GruReset reset = GruReset::after;  ///< `before`, the original paper's, is not in PyTorch
  bool bias = true;
  RecurrentInit init = {};
};

/// One step: r, z = sigmoid(W x + b_ih + U h + b_hh), n = tanh(W_n x + b_in + r (U_n h + b_hn)), h' = (1 - z) n + z h;
/// z = 1 keeps the state. Parameters, as torch.nn.GRUCell, gates in the order r, z, n: weight_ih [3H, I], weight_hh
/// [3H, H], bias_ih [3H], bias_hh [3H].
class GRUCell {
 public:
  /// Throws ValueError if a size is less than 1.
  GRUCell(const Scope& scope, index_t input, index_t hidden, const GRUCellOptions& options = {});
  GRUCell(GRUCell&&) = default;
  GRUCell(const GRUCell&) = delete;

  /// x [B, I], h [B, H] or empty for zeros -> the next h [B, H]. Throws ShapeError.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;

  RecurrentParameters parameters;

 private:
  GruReset reset_;
};

struct GRUOptions {
  index_t layers = 1;
  GruReset reset = GruReset::after;  ///< `before`, the original paper's, is not in PyTorch
  bool bias = true;
  bool bidirectional = false;
  double dropout = 0;  ///< of the output of each layer but the last, in training
  RecurrentInit init = {};
};

using GRUState = RNNState;

struct GRUOutput {
  Tensor y;        ///< [B, T, D H]: the last layer's states, both directions side by side
  GRUState state;  ///< after the last real step of each sequence; of a reverse direction, after its first
};

/// A stack of GRU layers over whole sequences, D directions each: x [B, T, I] -> [B, T, D H]. Batch first, unlike
/// PyTorch's default. Parameters, as torch.nn.GRU, gates in the order r, z, n: weight_ih_l0 [3H, I], weight_hh_l0
/// [3H, H], bias_ih_l0 [3H], bias_hh_l0 [3H], then the same with _l0_reverse, _l1, ...; layers above the first have D H
/// inputs.
class GRU {
 public:
  /// Throws ValueError if a size is less than 1 or the dropout no probability.
  GRU(const Scope& scope, index_t input, index_t hidden, const GRUOptions& options = {});
  GRU(GRU&&) = default;
  GRU(const GRU&) = delete;

  /// `lengths` [B] are the real steps of each sequence, 0..T, or empty for all; see HiddenSequence for what padding
  /// means. Throws ShapeError, or IndexError for a length.
  GRUOutput operator()(const Tensor& x, const GRUState& state = {}, const IndexArray& lengths = {}) const;

  const std::vector<RecurrentParameters>& parameters() const { return stack_.parameters(); }

 private:
  GruReset reset_;
  RecurrentStack stack_;
};

}  // namespace xtape::inline XTAPE_DTYPE
