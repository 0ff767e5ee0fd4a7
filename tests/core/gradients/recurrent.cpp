#include "cases.hpp"

namespace xtape::test {

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

  static std::vector<Array> inputs(const Shape& x, index_t gates, index_t hidden, bool cells) {
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
  void sequences(const char* op, const std::string& title, index_t gates, bool cells, Op run) {
    const auto add = [&](const char* variant, const SequenceOptions& options) {
      cases.push_back({op, title + variant, inputs({3, 4, 2}, gates, 3, cells),
                       [run, options](Args a) { return joined(run(a, options)); }});
    };
    add("all steps", {});
    add("lengths", {.lengths = {2, 4, 0}});
    add("lengths, reverse", {.lengths = {1, 2, 4}, .reverse = true});
  }

  template <class Op>
  void cell(const char* op, const std::string& title, index_t gates, bool cells, Op run) {
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

}  // namespace xtape::test
