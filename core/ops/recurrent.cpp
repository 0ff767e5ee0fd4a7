#include <xtape/core/kernels/unary.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/internal/recurrent_lags.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr GateBlock kOneGate[] = {{0, 0, 1}};
constexpr GateBlock kFourGates[] = {{0, 0, 4}};
constexpr GateBlock kFirstThree[] = {{0, 0, 3}};
constexpr GateBlock kThirdLast[] = {{0, 0, 2}, {2, 3, 1}};

constexpr GateLayout kRnn = {1, 1, false, kOneGate, kOneGate};
constexpr GateLayout kLstm = {4, 4, true, kFourGates, kFourGates};
// The columns of the kernels are r, z, m, n. The third block of weight_hh contributes to m, or to n.
constexpr GateLayout kGruResetAfter = {3, 4, false, kThirdLast, kFirstThree};
constexpr GateLayout kGruResetBefore = {3, 4, false, kThirdLast, kThirdLast};

using Outputs = std::array<Tensor, 3>;

/// Records a finished pass. `kernel(arrays, gradients)` is its backward kernel; `second(arrays)` is the argument of
/// RecurrentBackward::finish.
template <class Kernel, class Second>
Outputs record(const char* op, const Tensor& x, const Tensor& h0, const Tensor& c0, const RecurrentWeights& w,
               RecurrentForward pass, Kernel kernel, Second second) {
  Outputs out = pass.outputs();
  const index_t count = pass.output_count();
  Tape::record(op, {x, h0, w.weight_ih, w.weight_hh, w.bias_ih, w.bias_hh, c0}, std::span(out).first(count),
               [pass = std::move(pass), kernel, second](Grads& g) mutable {
                 const kernels::RecurrentArrays arrays = pass.arrays();
                 if (Probe* probe = g.probe(); probe && pass.is_sequence()) {
                   LagGradients last(pass, g);
                   kernel(last.followed(arrays), last.arrays());
                   last.report(*probe);
                 }
                 RecurrentBackward backward(pass, g);
                 kernel(arrays, backward.arrays());
                 backward.finish(second(arrays));
               });
  return out;
}

/// For ops whose hidden weights are all multiplied with the states.
kernels::MatrixView the_states(const kernels::RecurrentArrays&) { return {nullptr, 0}; }

/// With the nonlinearity outside, the products read f(h), so the first one needs f(h0).
void apply(Nonlinearity f, real* x, index_t n) {
  switch (f) {
    case Nonlinearity::tanh:
      return kernels::unary(kernels::Unary::tanh, x, x, n);
    case Nonlinearity::relu:
      return kernels::unary(kernels::Unary::relu, x, x, n);
    case Nonlinearity::sigmoid:
      return kernels::unary(kernels::Unary::sigmoid, x, x, n);
  }
}

Outputs run_rnn(const char* op, const Tensor& x, const Tensor& h0, const RecurrentWeights& w, const RnnForm& form,
                const SequenceOptions* options) {
  RecurrentForward pass(op, kRnn, x, h0, {}, w, options);
  const bool inside = form.place == NonlinearityPlace::inside;
  const kernels::RecurrentArrays arrays = pass.arrays();
  if (!inside) apply(form.nonlinearity, arrays.h.before, pass.first_rows() * arrays.hidden);
  kernels::rnn(arrays, form.nonlinearity, inside);
  if (Probe* probe = Probe::active(); probe && form.nonlinearity != Nonlinearity::relu)
    pass.show_states(*probe, form.nonlinearity == Nonlinearity::sigmoid ? kSigmoidLow : kTanhLow);
  return record(
      op, x, h0, {}, w, std::move(pass),
      [f = form.nonlinearity, inside](const kernels::RecurrentArrays& a, const kernels::RecurrentGrads& g) {
        kernels::rnn_backward(a, f, inside, g);
      },
      the_states);
}

Outputs run_lstm(const char* op, const Tensor& x, const Tensor& h0, const Tensor& c0, const RecurrentWeights& w,
                 const SequenceOptions* options) {
  RecurrentForward pass(op, kLstm, x, h0, c0, w, options);
  kernels::lstm(pass.arrays());
  if (Probe* probe = Probe::active()) {
    pass.show_gate(*probe, "input", kSigmoidLow, 0);
    pass.show_gate(*probe, "forget", kSigmoidLow, 1);
    pass.show_gate(*probe, "cell", kTanhLow, 2);
    pass.show_gate(*probe, "output", kSigmoidLow, 3);
    pass.show_states(*probe, kTanhLow);
  }
  return record(op, x, h0, c0, w, std::move(pass), kernels::lstm_backward, the_states);
}

Outputs run_gru(const char* op, const Tensor& x, const Tensor& h0, const RecurrentWeights& w, GruReset reset,
                const SequenceOptions* options) {
  const bool after = reset == GruReset::after;
  RecurrentForward pass(op, after ? kGruResetAfter : kGruResetBefore, x, h0, {}, w, options);
  kernels::gru(pass.arrays(), after);
  if (Probe* probe = Probe::active()) {
    pass.show_gate(*probe, "reset", kSigmoidLow, 0);
    pass.show_gate(*probe, "update", kSigmoidLow, 1);
    pass.show_gate(*probe, "candidate", kTanhLow, 3);
    pass.show_states(*probe, kTanhLow);
  }
  return record(
      op, x, h0, {}, w, std::move(pass),
      [after](const kernels::RecurrentArrays& a, const kernels::RecurrentGrads& g) {
        kernels::gru_backward(a, after, g);
      },
      // Reset before: the weights of the candidate are multiplied with r h, the third column of the gates.
      [after](const kernels::RecurrentArrays& a) {
        return after ? the_states(a) : kernels::MatrixView{offset_pointer(a.gates, 2 * a.hidden), 4 * a.hidden};
      });
}

}  // namespace

RecurrentSequence rnn(const Tensor& x, const Tensor& h0, const RecurrentWeights& weights, const RnnForm& form,
                      const SequenceOptions& options) {
  auto [y, h, c] = run_rnn("rnn", x, h0, weights, form, &options);
  return {y, h, c};
}

RecurrentSequence lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const RecurrentWeights& weights,
                       const SequenceOptions& options) {
  auto [y, h, c] = run_lstm("lstm", x, h0, c0, weights, &options);
  return {y, h, c};
}

RecurrentSequence gru(const Tensor& x, const Tensor& h0, const RecurrentWeights& weights, GruReset reset,
                      const SequenceOptions& options) {
  auto [y, h, c] = run_gru("gru", x, h0, weights, reset, &options);
  return {y, h, c};
}

Tensor rnn_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& weights, const RnnForm& form) {
  return run_rnn("rnn_cell", x, h, weights, form, nullptr)[0];
}

LstmStep lstm_cell(const Tensor& x, const Tensor& h, const Tensor& c, const RecurrentWeights& weights) {
  auto [next, cell, none] = run_lstm("lstm_cell", x, h, c, weights, nullptr);
  return {next, cell};
}

Tensor gru_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& weights, GruReset reset) {
  return run_gru("gru_cell", x, h, weights, reset, nullptr)[0];
}

}  // namespace xtape::inline XTAPE_DTYPE
