// Recurrent networks over whole sequences. After one product for the inputs of all steps, each step is one product with
// the recurrent weights and one pass over its gates. Sequences of a batch do not depend on each other, so a thread
// takes a fixed range of them through all steps.
//
// Letters: B sequences, H hidden size, N steps of all sequences together, G gate columns of width H.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// The steps of B sequences as N packed rows. Sequences are sorted by descending length; step s has one row for each
/// sequence longer than s, so the rows of a step continue the first rows of the previous step.
struct PackedSteps {
  index_t batch;          ///< B, sequences of length 0 included
  index_t steps;          ///< the greatest length
  const index_t* offset;  ///< [steps + 1]: the first row of each step, and N
  const index_t* place;   ///< [N]: the row of y and dy that belongs to each packed row
};

/// States h or c: before[row] [N, H] is the state before the row's step, last[i] [B, H] the state after the last step
/// of sorted sequence i. The caller fills the rows of step 0, and `last` for sequences of length 0.
struct States {
  real* before;
  real* last;
};

/// Arrays of a forward pass. `gates` [N, G H] holds the contribution of the inputs on entry, and on return the
/// activated gates for the backward pass.
struct RecurrentArrays {
  PackedSteps steps;
  index_t hidden;
  const real* weight;  ///< [., H], rows by gate
  const real* bias;    ///< [G H], both biases together
  real* gates;
  States h;
  States c;  ///< lstm only
  real* y;   ///< h of every row, in the order of `place`
};

/// Arrays of the backward pass. dh and dc [B, H] hold the gradients of the last states on entry, of the first on
/// return.
struct RecurrentGrads {
  const real* dy;
  real* dh;
  real* dc;        ///< lstm only
  real* dgates;    ///< [N, G H]: gradients before the nonlinearities
  real* dh_steps;  ///< [N, H]: the complete gradient of each row's h, or null
  real* dc_steps;  ///< [N, H]: the complete gradient of each row's c, or null
};

/// G = 1. Inside: h_t = f(W h_{t-1} + gates); else h_t = W f(h_{t-1}) + gates, and then `h.before` holds f(h_{t-1}),
/// its rows of step 0 too, and `gates` is h_t.
void rnn(const RecurrentArrays& r, Nonlinearity f, bool inside);
void rnn_backward(const RecurrentArrays& r, Nonlinearity f, bool inside, const RecurrentGrads& g);

/// G = 4: i, f, g, o (Hochreiter and Schmidhuber 1997; Gers et al. 2000). c_t = f c_{t-1} + i g, h_t = o tanh(c_t).
void lstm(const RecurrentArrays& r);
void lstm_backward(const RecurrentArrays& r, const RecurrentGrads& g);

/// G = 4 (Cho et al. 2014): r, z, m, n with h_t = (1 - z) n + z h_{t-1}. Reset after the product: n = tanh(gates_n +
/// r m), m = W_n h_{t-1} + b_m. Before it: m = r h_{t-1}, n = tanh(gates_n + W_n m). The weight's rows are r, z, n; the
/// third column of `gates` must be zero on entry.
void gru(const RecurrentArrays& r, bool reset_after);
void gru_backward(const RecurrentArrays& r, bool reset_after, const RecurrentGrads& g);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
