// Recurrent ops of every kind, over sequences and over single steps.
#include "check.hpp"

#include <algorithm>
#include <cmath>

namespace xtape::fuzz {

namespace {

enum Kind { of_rnn, of_lstm, of_gru };

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

double applied(Nonlinearity f, double x) {
  if (f == Nonlinearity::relu) return x > 0 ? x : 0;
  return f == Nonlinearity::tanh ? std::tanh(x) : sigmoid_of(x);
}

/// A network of one layer and its initial state.
struct Network {
  Kind kind = of_rnn;
  RnnForm form;
  GruReset reset = GruReset::after;
  std::int64_t in = 0, hidden = 0;
  Plain weight_ih, weight_hh, bias_ih, bias_hh, h, c;
  bool biased = false, started = false;

  std::int64_t gates() const { return kind == of_rnn ? 1 : kind == of_lstm ? 4 : 3; }
  bool fits(std::int64_t batch) const {
    const Dimensions states = {batch, hidden};
    return weight_ih.shape == Dimensions{gates() * hidden, in} &&
           weight_hh.shape == Dimensions{gates() * hidden, hidden} &&
           (!biased || bias_hh.shape[0] == gates() * hidden) &&
           (!started || (h.shape == states && (kind != of_lstm || c.shape == states)));
  }
};

Network network(Choices& choices, std::int64_t batch, std::int64_t in) {
  static constexpr Nonlinearity kFunctions[] = {Nonlinearity::tanh, Nonlinearity::relu, Nonlinearity::sigmoid};
  Network n;
  n.kind = static_cast<Kind>(choices.below(3));
  n.form = {kFunctions[choices.below(3)], choices.yes() ? NonlinearityPlace::outside : NonlinearityPlace::inside};
  n.reset = choices.yes() ? GruReset::before : GruReset::after;
  n.in = in;
  n.hidden = choices.within(1, 5);
  const std::int64_t rows = n.gates() * n.hidden;
  n.weight_ih = choices.numbers({choices.mostly(rows), in});
  n.weight_hh = choices.numbers({rows, choices.mostly(n.hidden)});
  n.bias_ih = choices.numbers({rows});
  n.bias_hh = choices.numbers({choices.mostly(rows)});
  n.h = choices.numbers({choices.mostly(batch), n.hidden});
  n.c = choices.numbers({batch, choices.mostly(n.hidden)});
  n.biased = choices.yes();
  n.started = choices.yes();
  return n;
}

using Row = std::vector<double>;

/// bias + weight x, where x is a vector.
Row projected(const Plain& weight, const Plain& bias, bool biased, const Row& x) {
  Row out(static_cast<std::size_t>(weight.shape[0]));
  for (std::size_t row = 0; row < out.size(); ++row) {
    out[row] = biased ? bias.values[row] : 0;
    for (std::size_t i = 0; i < x.size(); ++i) out[row] += weight.values[row * x.size() + i] * x[i];
  }
  return out;
}

/// One step of one sequence, as in the papers.
void step(const Network& n, const Row& x, Row& h, Row& c) {
  const std::size_t size = h.size();
  Row seen = h;
  if (n.kind == of_rnn && n.form.place == NonlinearityPlace::outside)
    for (double& value : seen) value = applied(n.form.nonlinearity, value);
  const Row input = projected(n.weight_ih, n.bias_ih, n.biased, x);
  const Row state = projected(n.weight_hh, n.bias_hh, n.biased, seen);
  const auto sum = [&](std::size_t gate, std::size_t i) { return input[gate * size + i] + state[gate * size + i]; };
  Row reset_state = h;
  for (std::size_t i = 0; n.kind == of_gru && i < size; ++i) reset_state[i] *= sigmoid_of(sum(0, i));
  const Row after_reset = projected(n.weight_hh, n.bias_hh, n.biased, reset_state);
  for (std::size_t i = 0; i < size; ++i) {
    if (n.kind == of_rnn) {
      h[i] = n.form.place == NonlinearityPlace::inside ? applied(n.form.nonlinearity, sum(0, i)) : sum(0, i);
    } else if (n.kind == of_lstm) {
      c[i] = sigmoid_of(sum(1, i)) * c[i] + sigmoid_of(sum(0, i)) * std::tanh(sum(2, i));
      h[i] = sigmoid_of(sum(3, i)) * std::tanh(c[i]);
    } else {
      const std::size_t row = 2 * size + i;
      const double r = sigmoid_of(sum(0, i)), z = sigmoid_of(sum(1, i));
      const double made = n.reset == GruReset::after ? r * state[row] : after_reset[row];
      h[i] = (1 - z) * std::tanh(input[row] + made) + z * h[i];
    }
  }
}

/// y, h and c after the first lengths[b] steps of x [B, T, I].
struct Outcome {
  Plain y, h, c;
};

Outcome outcome(const Network& n, const Plain& x, const std::vector<std::int64_t>& lengths, bool reverse) {
  const std::int64_t batch = x.shape[0], time = x.shape[1];
  const auto zeros = [](const Dimensions& shape) { return plain(shape, [](const Index&) { return 0.0; }); };
  Outcome out = {zeros({batch, time, n.hidden}), zeros({batch, n.hidden}), zeros({batch, n.hidden})};
  for (std::int64_t b = 0; b < batch; ++b) {
    Row h(n.hidden), c(n.hidden);
    for (std::int64_t i = 0; n.started && i < n.hidden; ++i) {
      h[i] = n.h.at({b, i});
      if (n.kind == of_lstm) c[i] = n.c.at({b, i});
    }
    for (std::int64_t s = 0; s < lengths[b]; ++s) {
      const std::int64_t t = reverse ? lengths[b] - 1 - s : s;
      Row row;
      for (std::int64_t i = 0; i < n.in; ++i) row.push_back(x.at({b, t, i}));
      step(n, row, h, c);
      std::copy(h.begin(), h.end(), out.y.values.begin() + (b * time + t) * n.hidden);
    }
    std::copy(h.begin(), h.end(), out.h.values.begin() + b * n.hidden);
    std::copy(c.begin(), c.end(), out.c.values.begin() + b * n.hidden);
  }
  return out;
}

/// Operands of a check: x, the weights, then the optional operands.
std::vector<Plain> operands(const Network& n, const Plain& x) {
  std::vector<Plain> out = {x, n.weight_ih, n.weight_hh};
  if (n.biased) out.insert(out.end(), {n.bias_ih, n.bias_hh});
  if (n.started) out.push_back(n.h);
  if (n.started && n.kind == of_lstm) out.push_back(n.c);
  return out;
}

struct Given {
  RecurrentWeights weights;
  Tensor h, c;
};

Given given(const Network& n, const std::vector<Tensor>& t) {
  Given out{{t[1], t[2], n.biased ? t[3] : Tensor(), n.biased ? t[4] : Tensor()}, {}, {}};
  const std::size_t next = n.biased ? 5 : 3;
  if (n.started) out.h = t[next];
  if (n.started && n.kind == of_lstm) out.c = t[next + 1];
  return out;
}

void try_sequence(Choices& choices) {
  const std::int64_t batch = choices.within(0, 3), time = choices.within(0, 5), in = choices.within(1, 4);
  const Network n = network(choices, batch, in);
  const Plain x = choices.numbers({batch, time, choices.mostly(in)});
  SequenceOptions options;
  options.reverse = choices.yes();
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch), time);
  bool sound = x.shape[2] == in && n.fits(batch);
  if (choices.yes()) {
    Plain given_lengths = choices.numbers({choices.mostly(batch)});
    const bool wrong = choices.below(16) == 1;
    for (std::size_t b = 0; b < given_lengths.values.size(); ++b) {
      double& length = given_lengths.values[b];
      length = wrong ? static_cast<double>(time + 1) : std::fmod((length + 2) * 8, static_cast<double>(time + 1));
      if (b < lengths.size()) lengths[b] = static_cast<std::int64_t>(length);
    }
    options.lengths = indices_of(given_lengths);
    sound = sound && given_lengths.shape[0] == batch && !(wrong && batch > 0);
  }
  const std::int64_t which = choices.below(n.kind == of_lstm ? 3 : 2);
  std::optional<Plain> want;
  if (sound) {
    const Outcome all = outcome(n, x, lengths, options.reverse);
    want = which == 0 ? all.y : which == 1 ? all.h : all.c;
  }
  static constexpr const char* kNames[] = {"rnn", "lstm", "gru"};
  check(
      kNames[n.kind], operands(n, x),
      [&](const auto& t) {
        const Given g = given(n, t);
        const RecurrentSequence s = n.kind == of_lstm  ? lstm(t[0], g.h, g.c, g.weights, options)
                                    : n.kind == of_gru ? gru(t[0], g.h, g.weights, n.reset, options)
                                                       : rnn(t[0], g.h, g.weights, n.form, options);
        return which == 0 ? s.y : which == 1 ? s.h : s.c;
      },
      want);
}

void try_cell(Choices& choices) {
  const std::int64_t batch = choices.within(0, 3), in = choices.within(1, 4);
  const Network n = network(choices, batch, in);
  const Plain x = choices.numbers({batch, choices.mostly(in)});
  const bool second = n.kind == of_lstm && choices.yes();
  std::optional<Plain> want;
  if (x.shape[1] == in && n.fits(batch)) {
    const std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch), 1);
    const Outcome all = outcome(n, {{batch, 1, in}, x.values}, lengths, false);
    want = second ? all.c : all.h;
  }
  static constexpr const char* kNames[] = {"rnn_cell", "lstm_cell", "gru_cell"};
  check(
      kNames[n.kind], operands(n, x),
      [&](const auto& t) {
        const Given g = given(n, t);
        if (n.kind == of_rnn) return rnn_cell(t[0], g.h, g.weights, n.form);
        if (n.kind == of_gru) return gru_cell(t[0], g.h, g.weights, n.reset);
        const LstmStep next = lstm_cell(t[0], g.h, g.c, g.weights);
        return second ? next.c : next.h;
      },
      want);
}

}  // namespace

void try_recurrent(Choices& choices) {
  if (choices.yes()) return try_cell(choices);
  try_sequence(choices);
}

}  // namespace xtape::fuzz
