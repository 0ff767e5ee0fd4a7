// Recurrent networks over whole sequences: after one product for the inputs of all steps, each step is one product with
// the recurrent weights and one pass over its gates. Rows of the batch do not depend on each other, so fixed ranges of
// them run through all steps on their own, each on one thread.
//
// Letters: B sequences, H hidden size, N steps of all sequences together, G gate columns of width H.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// The steps of B sequences as N packed rows. Sequences stand by falling length; step s has one row for each sequence
/// longer than s, in that order, so the rows of a step continue a prefix of the step before it.
struct PackedSteps {
  index_t batch;          ///< B, with sequences of length 0
  index_t steps;          ///< the greatest length
  const index_t* offset;  ///< [steps + 1]: the first row of each step, and N
  const index_t* place;   ///< [N]: the row of y and dy that belongs to each packed row
};

/// States h or c around the steps: `before[row]` [N, H] is the state that the row's step starts from, `last[rank]`
/// [B, H] the state after the last step of each sequence. Whoever calls fills the rows of step 0, and `last` for
/// sequences of length 0.
struct States {
  real* before;
  real* last;
};

/// Arrays of a pass over all steps. `gates` [N, G H] holds the inputs' share on entry and what the backward needs on
/// return.
struct RecurrentArrays {
  PackedSteps steps;
  index_t hidden;
  const real* weight;  ///< [., H], rows by gate
  const real* bias;    ///< [G H], both biases together
  real* gates;
  States h;
  States c;  ///< lstm only
  real* y;   ///< h of every row at its place
};

/// Arrays of the backward pass. dh and dc [B, H] hold the gradients of the last states on entry, of the first on
/// return.
struct RecurrentGrads {
  const real* dy;
  real* dh;
  real* dc;        ///< lstm only
  real* dgates;    ///< [N, G H]: gradients before the nonlinearities
  real* dh_steps;  ///< [N, H]: the complete gradient of each row's h, or null
  real* dc_steps;  ///< the same of c
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

/// out[i] = x[rows[i]] for rows of `width` numbers.
void take_rows(const real* x, const index_t* rows, index_t count, index_t width, real* out);

/// out[rows[i]] = x[i], or added when `accumulate`; the rows must be distinct.
void put_rows(const real* x, const index_t* rows, index_t count, index_t width, real* out, bool accumulate);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
