#include <xtape/nn/gru.hpp>

namespace xtape::inline XTAPE_DTYPE {

GRUCell::GRUCell(const Scope& scope, index_t input, index_t hidden, const GRUCellOptions& o)
    : parameters(scope, "", {3, input, hidden, o.bias, o.init, {}}), reset_(o.reset) {}

Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) const {
  const LayerScope here(parameters.layer);
  return gru_cell(x, h, parameters.weights(), reset_);
}

GRU::GRU(const Scope& scope, index_t input, index_t hidden, const GRUOptions& o)
    : reset_(o.reset),
      stack_(scope, {.op = "gru",
                     .gates = 3,
                     .input = input,
                     .hidden = hidden,
                     .layers = o.layers,
                     .bias = o.bias,
                     .bidirectional = o.bidirectional,
                     .dropout = o.dropout,
                     .init = o.init}) {}

GRUOutput GRU::operator()(const Tensor& x, const GRUState& state, const IndexArray& lengths) const {
  stack_.check_states(state.h);
  GRUOutput out;
  out.y = stack_(x, lengths, [&](const Tensor& in, std::size_t i, const RecurrentWeights& w, const SequenceOptions& o) {
    const HiddenSequence s = gru(in, state_at(state.h, i), w, reset_, o);
    out.state.h.push_back(s.h);
    return s.y;
  });
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
