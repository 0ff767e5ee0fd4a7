#include "layer_norm_recurrent.hpp"

#include <algorithm>

namespace xtape::examples {

namespace {

index_t gates_of(CellKind cell) { return cell == CellKind::rnn ? 1 : cell == CellKind::gru ? 3 : 4; }

}  // namespace

LayerNormRecurrent::LayerNormRecurrent(const Scope& scope, index_t input, index_t hidden,
                                       const LayerNormRecurrentOptions& options)
    : cell_(options.cell),
      hidden_(hidden),
      weights_(scope, "_l0",
               {.gates = gates_of(options.cell),
                .input = input,
                .hidden = hidden,
                .bias = false,
                .init = options.init,
                .forget_bias = {}}),
      norm_input_(scope / "norm_input", gates_of(options.cell) * hidden),
      norm_hidden_(scope / "norm_hidden", gates_of(options.cell) * hidden) {
  if (cell_ != CellKind::lstm) return;
  norm_cell_.emplace(scope / "norm_cell", hidden);
  real* const forget = norm_hidden_.bias.edit() + hidden;  // the second of the gates i, f, g, o
  std::fill(forget, forget + hidden, static_cast<real>(options.forget_bias.value_or(0)));
}

Tensor LayerNormRecurrent::operator()(const Tensor& x) const {
  const Tensor a = linear(x, weights_.weight_ih);
  const Tensor inputs = cell_ == CellKind::rnn ? a : norm_input_(a);
  const Tensor zeros = Tensor::zeros({x.size(0), hidden_});
  State state = {zeros, zeros};
  std::vector<Tensor> states;
  for (index_t t = 0; t < x.size(1); ++t) {
    state = next(squeeze(slice(inputs, 1, t, t + 1), {1}), state);
    states.push_back(state.h);
  }
  return stack(states, 1);
}

LayerNormRecurrent::State LayerNormRecurrent::next(const Tensor& a, const State& s) const {
  const Tensor product = linear(s.h, weights_.weight_hh);
  if (cell_ == CellKind::rnn) return {tanh(norm_hidden_(a + product)), s.c};
  const Tensor u = norm_hidden_(product);
  if (cell_ == CellKind::gru) {
    const Tensor n_a = slice(a, 1, 2 * hidden_), n_u = slice(u, 1, 2 * hidden_);
    const std::vector<Tensor> rz =
        split(sigmoid(slice(a, 1, 0, 2 * hidden_) + slice(u, 1, 0, 2 * hidden_)), hidden_, 1);
    const Tensor n = tanh(n_a + rz[0] * n_u);
    return {n + rz[1] * (s.h - n), s.c};
  }
  const std::vector<Tensor> gates = split(a + u, hidden_, 1);  // i, f, g, o
  const Tensor c = sigmoid(gates[1]) * s.c + sigmoid(gates[0]) * tanh(gates[2]);
  return {sigmoid(gates[3]) * tanh((*norm_cell_)(c)), c};
}

}  // namespace xtape::examples
