// Recurrent networks: ops over a whole sequence, and over one step. Letters: B sequences, T steps, I inputs, H hidden.
//
// A sequence op is one product for the inputs of all steps, then one product and one fused pass over the gates for each
// step; the gradient of each weight is one product after the loop. Cell ops give the same numbers one step at a time.
#pragma once

#include <xtape/core/kernels/recurrent.hpp>
#include <xtape/core/tape.hpp>

#include <string>

namespace xtape::inline XTAPE_DTYPE {

using kernels::Nonlinearity;  ///< tanh, relu, sigmoid

/// Parameters of one layer in one direction. G is the number of gates: 1 for rnn, 4 for lstm (order i, f, g, o), 3 for
/// gru (r, z, n); each gate is a block of H rows. Both biases are added; they may be empty.
struct RecurrentWeights {
  Tensor weight_ih;     ///< [G H, I]
  Tensor weight_hh;     ///< [G H, H]
  Tensor bias_ih = {};  ///< [G H]
  Tensor bias_hh = {};  ///< [G H]
};

struct SequenceOptions {
  IndexArray lengths = {};  ///< [B], each 0..T: the steps that are not padding; empty: all T
  bool reverse = false;     ///< run each sequence from its last step to its first; y_t stays at step t
  std::string name = {};    ///< StepGrad::layer; default: the op's name
};

/// The result of a sequence op. Padded steps of y are zero. Padded inputs have no influence and a gradient of exactly
/// 0, even if they hold NaN. The last state is that after the last step that is not padding; for length 0 it is h0.
struct RecurrentSequence {
  Tensor y;  ///< [B, T, H]: h_t of every step
  Tensor h;  ///< [B, H]: the last state
  Tensor c;  ///< [B, H]: the last cell state of lstm; undefined for rnn and gru
};
struct LstmStep {
  Tensor h;  ///< [B, H]
  Tensor c;  ///< [B, H]
};

/// Where a vanilla network applies its nonlinearity s. With g_t = s(h_t) both are the same network.
enum class NonlinearityPlace {
  inside,   ///< h_t = s(W h_{t-1} + U x_t + b): Elman 1990, PyTorch's
  outside,  ///< h_t = W s(h_{t-1}) + U x_t + b
};

struct RnnForm {
  Nonlinearity nonlinearity = Nonlinearity::tanh;
  NonlinearityPlace place = NonlinearityPlace::inside;
};

/// What the GRU's reset gate multiplies: the product with the state (PyTorch, cuDNN), or the state (Cho et al. 2014).
enum class GruReset {
  after,   ///< n = tanh(W_in x + b_in + r (W_hn h + b_hn))
  before,  ///< n = tanh(W_in x + b_in + W_hn (r h) + b_hn)
};

/// Vanilla network. x [B, T, I], h0 [B, H] or empty for zeros. Throws ShapeError, or IndexError for a length.
RecurrentSequence rnn(const Tensor& x, const Tensor& h0, const RecurrentWeights& weights, const RnnForm& form = {},
                      const SequenceOptions& options = {});

/// Long short-term memory (Hochreiter and Schmidhuber 1997, with forget gate): i, f, o = sigmoid, g = tanh of
/// W x_t + b_ih + U h_{t-1} + b_hh; c_t = f c_{t-1} + i g; h_t = o tanh(c_t). h0 and c0 [B, H] or empty for zeros.
/// Throws as rnn.
RecurrentSequence lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const RecurrentWeights& weights,
                       const SequenceOptions& options = {});

/// Gated recurrent unit (Cho et al. 2014): r, z = sigmoid(W x_t + b_ih + U h_{t-1} + b_hh), n as GruReset says,
/// h_t = (1 - z) n + z h_{t-1}: z = 1 keeps the state, as in PyTorch (in the paper z = 0 does). Throws as rnn.
RecurrentSequence gru(const Tensor& x, const Tensor& h0, const RecurrentWeights& weights,
                      GruReset reset = GruReset::after, const SequenceOptions& options = {});

/// One step of each: x [B, I], states [B, H] or empty for zeros -> the next state. Throw ShapeError.
Tensor rnn_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& weights, const RnnForm& form = {});
LstmStep lstm_cell(const Tensor& x, const Tensor& h, const Tensor& c, const RecurrentWeights& weights);
Tensor gru_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& weights, GruReset reset = GruReset::after);

}  // namespace xtape::inline XTAPE_DTYPE
