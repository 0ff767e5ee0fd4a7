#include <xtape/nn/rnn.hpp>

namespace xtape::inline XTAPE_DTYPE {

RNNCell::RNNCell(const Scope& scope, index_t input, index_t hidden, const RNNCellOptions& o)
    : parameters(scope, "", {1, input, hidden, o.bias, o.init, {}}), form_{o.nonlinearity, o.place} {}

Tensor RNNCell::operator()(const Tensor& x, const Tensor& h) const {
  const LayerScope here(parameters.layer);
  return rnn_cell(x, h, parameters.weights(), form_);
}

RNN::RNN(const Scope& scope, index_t input, index_t hidden, const RNNOptions& o)
    : form_{o.nonlinearity, o.place},
      stack_(scope, {.op = "rnn",
                     .gates = 1,
                     .input = input,
                     .hidden = hidden,
                     .layers = o.layers,
                     .bias = o.bias,
                     .bidirectional = o.bidirectional,
                     .dropout = o.dropout,
                     .init = o.init}) {}

RNNOutput RNN::operator()(const Tensor& x, const RNNState& state, const IndexArray& lengths) const {
  stack_.check_states(state.h);
  RNNOutput out;
  out.y = stack_(x, lengths, [&](const Tensor& in, std::size_t i, const RecurrentWeights& w, const SequenceOptions& o) {
    const HiddenSequence s = rnn(in, state_at(state.h, i), w, form_, o);
    out.state.h.push_back(s.h);
    return s.y;
  });
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
