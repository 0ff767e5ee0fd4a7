#include <xtape/nn/lstm.hpp>

namespace xtape::inline XTAPE_DTYPE {

LSTMState LSTMState::detach() const { return {detached(h), detached(c)}; }

LSTMCell::LSTMCell(const Scope& scope, index_t input, index_t hidden, const LSTMCellOptions& o)
    : parameters(scope, "", {4, input, hidden, o.bias, o.init, o.forget_bias}) {}

LstmStep LSTMCell::operator()(const Tensor& x, const LstmStep& state) const {
  const LayerScope here(parameters.layer);
  return lstm_cell(x, state.h, state.c, parameters.weights());
}

LSTM::LSTM(const Scope& scope, index_t input, index_t hidden, const LSTMOptions& o)
    : stack_(scope, {.op = "lstm",
                     .gates = 4,
                     .input = input,
                     .hidden = hidden,
                     .layers = o.layers,
                     .bias = o.bias,
                     .bidirectional = o.bidirectional,
                     .dropout = o.dropout,
                     .init = o.init,
                     .forget_bias = o.forget_bias}) {}

LSTMOutput LSTM::operator()(const Tensor& x, const LSTMState& state, const IndexArray& lengths) const {
  stack_.check_states(state.h);
  stack_.check_states(state.c);
  LSTMOutput out;
  out.y = stack_(x, lengths, [&](const Tensor& in, std::size_t i, const RecurrentWeights& w, const SequenceOptions& o) {
    const LstmSequence s = lstm(in, state_at(state.h, i), state_at(state.c, i), w, o);
    out.state.h.push_back(s.h);
    out.state.c.push_back(s.c);
    return s.y;
  });
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
