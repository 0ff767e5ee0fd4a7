// GRU and LSTM: the effect of their gates on states and gradients.
#include "groups.hpp"

namespace xtape::theory {

namespace {

constexpr index_t kWidth = 12;

/// Sets one gate's block of a bias [G H].
void force(Parameter& bias, std::size_t gate, double value) {
  std::fill_n(bias.edit() + gate * kWidth, kWidth, static_cast<real>(value));
}

/// A GRU cell whose biases force its reset (0) and update (1) gates: the largest |h' - h| if `keep`, else the largest
/// |dh'/dh|.
double forgotten(double update, double reset, const Tensor& x, const Array& h, bool keep) {
  ParamStore store(4);
  GRUCell cell(store.root(), 5, kWidth);
  force(cell.parameters.bias_ih, 0, reset);
  force(cell.parameters.bias_ih, 1, update);
  if (keep) return largest_difference(cell(x, h).value(), h);
  return largest(jacobian([&](const Tensor& state) { return cell(x, state); }, h));
}

/// R4. h' = (1 - z) n + z h with z = 1 at "keep" (PyTorch). The other convention, h' = (1 - z) h + z n, is the same
/// network with the signs of z's weights changed, because s(-x) = 1 - s(x).
void gru(Report& report) {
  Claim claim(report, {"R4", "A GRU's gates carry a state unchanged, or forget it.",
                       "h' = (1-z) n + z h; with s(-x) = 1 - s(x) the other convention is z's weights negated",
                       "Cho et al. 2014, equations 5 to 8; PyTorch's GRU"});
  Random random(report.seed(), "gru");
  const Tensor x = normal_array({2, 5}, random);
  const Array h = normal_array({2, kWidth}, random);
  claim.near("z forced to keep (bias +40): largest |h' - h|", 0, forgotten(40, 0, x, h, true), 1e-15);
  claim.near("z at update, r at 0 (bias -40): largest |dh'/dh|", 0, forgotten(-40, -40, x, h, false), 1e-15);
  claim.at_least("the same at -4: not exact", 1e-3, forgotten(-4, -4, x, h, false));
  double sum = 0;
  for (double at : {-30.0, -2.0, 0.3, 5.0}) {
    const Tensor value = Tensor::scalar(at);
    sum = std::max(sum, std::abs(sigmoid(-value).item() - (1 - sigmoid(value).item())));
  }
  claim.near("largest |s(-x) - (1 - s(x))|", 0, sum, 1e-15);

  ParamStore ours(5), theirs(5);
  const GRUCell keeps(ours.root(), 5, kWidth), updates(theirs.root(), 5, kWidth);
  for (const char* name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
    Parameter parameter = theirs.parameter(name);
    const std::size_t block = parameter.value().size() / 3;
    for (std::size_t i = block; i < 2 * block; ++i) parameter.edit()[i] *= -1;
  }
  // The update of the other convention, (1-z) h + z n, from what the cell computes, (1-z) n + z h.
  const auto gates = linear(x, theirs.parameter("weight_ih"), theirs.parameter("bias_ih")) +
                     linear(h, theirs.parameter("weight_hh"), theirs.parameter("bias_hh"));
  const Tensor z = sigmoid(slice(gates, 1, kWidth, 2 * kWidth));
  const Tensor candidate = (updates(x, h) - z * Tensor(h)) / (1 - z);
  claim.near("the other convention with z negated equals ours", 0,
             largest_difference(((1 - z) * Tensor(h) + z * candidate).value(), keeps(x, h).value()), 1e-12);
  ParamStore before(5);
  const GRUCell other(before.root(), 5, kWidth, {.reset = GruReset::before});
  claim.at_least("r o (U h) is not U (r o h): largest difference", 1e-3,
                 largest_difference(other(x, h).value(), keeps(x, h).value()));
}

/// One LSTM step: its state, the sums of its gates, and its gradients at f = 0.
void lstm_state(Claim& claim, Random& random) {
  ParamStore store(6);
  LSTMCell cell(store.root(), 5, kWidth);
  const Tensor h = normal_array({1, kWidth}, random, 0.5), c = normal_array({1, kWidth}, random);
  const Tensor zero = Tensor::zeros({1, 5});
  claim.at_least("x_t = 0: largest |h_t - h_{t-1}| (not 0)", 1e-2,
                 largest_difference(cell(zero, {h, c}).h.value(), h.value()));
  const Tensor gates = linear(zero, cell.parameters.weight_ih, cell.parameters.bias_ih) +
                       linear(h, cell.parameters.weight_hh, cell.parameters.bias_hh);
  double furthest = 0;
  const Array parts = sigmoid(gates).value();
  for (std::size_t i = 0; i < kWidth; ++i)
    furthest = std::max(furthest, std::abs(parts(0, i) + parts(0, kWidth + i) + parts(0, 3 * kWidth + i) - 1));
  claim.at_least("gates i + f + o need not be 1: largest |sum - 1|", 0.1, furthest);
  force(cell.parameters.bias_ih, 1, -40);
  const Tensor x = normal_array({1, 5}, random);
  const auto by_h = [&](const Tensor& state) { return cell(x, {state, c}).h; };
  claim.wrong_statement("\"f_t = 0 stops the gradient to earlier steps\": |dh_t/dh_{t-1}|", 0,
                        spectral_norm(jacobian(by_h, h.value())), 0,
                        "it flows through i, o and the candidate, which read h_{t-1}");
  const auto by_c = [&](const Tensor& state) { return cell(x, {h, state}).c; };
  claim.near("f_t = 0 (bias -40): |dc_t/dc_{t-1}| along the direct path", 0, largest(jacobian(by_c, c.value())), 1e-15);
}

/// Along the direct path dc_T/dc_0 = prod f_t: the states h are detached at each step.
void direct_path(Claim& claim, Random& random) {
  Plot plot{"What the direct path of an LSTM keeps", "step", "geometric mean over units of dc_t/dc_0", false, true, {}};
  for (double bias : {1.0, 3.0, 5.0}) {
    ParamStore store(7);
    const LSTMCell cell(store.root(), 5, kWidth, {.forget_bias = bias});
    const Array inputs = normal_array({100, 5}, random);
    const Tensor start = normal_array({1, kWidth}, random, 0.1);
    Array forgets = Tensor::ones({1, kWidth}).value();
    Curve kept{"forget bias " + std::to_string(static_cast<int>(bias)), {}, {}};
    Tape tape;
    const Tensor c0 = tape.variable(start.value());
    LstmStep state{Tensor::zeros({1, kWidth}), c0};
    for (std::size_t t = 0; t < 100; ++t) {
      const Tensor x = slice(Tensor(inputs), 0, static_cast<index_t>(t), static_cast<index_t>(t) + 1);
      const Tensor gates = linear(x, cell.parameters.weight_ih.value(), cell.parameters.bias_ih.value()) +
                           linear(state.h.detach(), cell.parameters.weight_hh.value(), cell.parameters.bias_hh.value());
      forgets *= sigmoid(slice(gates, 1, kWidth, 2 * kWidth)).value();
      state = cell(x, {state.h.detach(), state.c});
      kept.x.push_back(static_cast<double>(t + 1));
      kept.y.push_back(std::exp(mean(log(Tensor(forgets))).item()));
    }
    tape.backward(state.c, Tensor::ones({1, kWidth}).value());
    const Array measured = tape.grad(c0);
    Array ratios = measured;
    ratios /= forgets;
    ratios -= 1;
    const std::string name = kept.name;
    claim.near(name + ": largest |dc_100/dc_0 / prod f - 1|", 0, largest(ratios), 1e-10);
    const double gate = 1 / (1 + std::exp(-bias));
    claim.relative(name + ": factor a step, (dc_100/dc_0)^(1/100), beside s(bias)", gate,
                   std::exp(mean(log(Tensor(measured))).item() / 100), 0.03);
    plot.curves.push_back(std::move(kept));
    Curve line{"s(" + std::to_string(static_cast<int>(bias)) + ")^t", {1, 100}, {}, true};
    for (double t : line.x) line.y.push_back(std::pow(gate, t));
    plot.curves.push_back(std::move(line));
  }
  claim.plot(std::move(plot));
}

/// R5. c_t = f c_{t-1} + i g, h_t = o tanh(c_t); along the direct path dc_t/dc_{t-1} = f_t.
void lstm(Report& report) {
  Claim claim(report, {"R5", "An LSTM's direct path keeps gradient where its forget gates are near 1.",
                       "dc_T/dc_0 = prod f_t along the direct path",
                       "Hochreiter, Schmidhuber 1997; Gers, Schmidhuber, Cummins 2000"});
  Random random(report.seed(), "lstm");
  lstm_state(claim, random);
  direct_path(claim, random);
}

}  // namespace

void gates(Report& report) {
  gru(report);
  lstm(report);
}

}  // namespace xtape::theory
