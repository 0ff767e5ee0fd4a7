#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/unary.hpp>
#include <xtape/core/ops/concat.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/internal/recurrent_lags.hpp>
#include <xtape/core/ops/shape.hpp>

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
  const std::size_t count = pass.output_count();
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

namespace {

/// All outputs of an op as one vector.
Tensor flat(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> rows;
  for (const Tensor& x : outputs) rows.push_back(reshape(x, {-1}));
  return concat(rows, 0);
}
Tensor joined(const RecurrentSequence& s) { return s.c.defined() ? flat({s.y, s.h, s.c}) : flat({s.y, s.h}); }
Tensor joined(const LstmStep& s) { return flat({s.h, s.c}); }

/// Cases of one op: `sequence` and `cell` get x, h, weight_ih, weight_hh, bias_ih, bias_hh and c.
struct CaseMaker {
  using Args = std::span<const Tensor>;

  GradCases cases;

  static RecurrentWeights weights(Args a) { return {a[2], a[3], a[4], a[5]}; }

  static std::vector<Array> inputs(const Shape& x, std::size_t gates, std::size_t hidden, bool cells) {
    std::vector<Array> out = {sample(x, 91),
                              sample({x[0], hidden}, 92),
                              sample({gates * hidden, x.back()}, 93),
                              sample({gates * hidden, hidden}, 94),
                              sample({gates * hidden}, 95),
                              sample({gates * hidden}, 96)};
    if (cells) out.push_back(sample({x[0], hidden}, 97));
    return out;
  }

  template <class Op>
  void sequences(const char* op, const std::string& title, std::size_t gates, bool cells, Op run) {
    const auto add = [&](const char* variant, const SequenceOptions& options) {
      cases.push_back({op, title + variant, inputs({3, 4, 2}, gates, 3, cells),
                       [run, options](Args a) { return joined(run(a, options)); }});
    };
    add("all steps", {});
    add("lengths", {.lengths = {2, 4, 0}});
    add("lengths, reverse", {.lengths = {1, 2, 4}, .reverse = true});
  }

  template <class Op>
  void cell(const char* op, const std::string& title, std::size_t gates, bool cells, Op run) {
    cases.push_back({op, title, inputs({2, 3}, gates, 3, cells), run});
  }
};

}  // namespace

GradCases recurrent_grad_cases() {
  using Args = CaseMaker::Args;
  CaseMaker make;
  for (const auto& [f, name] :
       {std::pair(Nonlinearity::tanh, "tanh "), {Nonlinearity::relu, "relu "}, {Nonlinearity::sigmoid, "sigmoid "}})
    for (const auto& [place, where] :
         {std::pair(NonlinearityPlace::inside, "inside, "), {NonlinearityPlace::outside, "outside, "}}) {
      const RnnForm form = {f, place};
      make.sequences("rnn", std::string(name) + where, 1, false, [form](Args a, const SequenceOptions& o) {
        return rnn(a[0], a[1], CaseMaker::weights(a), form, o);
      });
      make.cell("rnn_cell", std::string(name) + where, 1, false,
                [form](Args a) { return rnn_cell(a[0], a[1], CaseMaker::weights(a), form); });
    }
  make.sequences("lstm", "", 4, true,
                 [](Args a, const SequenceOptions& o) { return lstm(a[0], a[1], a[6], CaseMaker::weights(a), o); });
  make.cell("lstm_cell", "", 4, true,
            [](Args a) { return joined(lstm_cell(a[0], a[1], a[6], CaseMaker::weights(a))); });
  for (const GruReset reset : {GruReset::after, GruReset::before}) {
    const std::string title = reset == GruReset::after ? "reset after, " : "reset before, ";
    make.sequences("gru", title, 3, false, [reset](Args a, const SequenceOptions& o) {
      return gru(a[0], a[1], CaseMaker::weights(a), reset, o);
    });
    make.cell("gru_cell", title, 3, false,
              [reset](Args a) { return gru_cell(a[0], a[1], CaseMaker::weights(a), reset); });
  }
  return make.cases;
}

}  // namespace xtape::inline XTAPE_DTYPE
