#include <xtape/core/error.hpp>
#include <xtape/models/char_rnn.hpp>

namespace xtape::inline XTAPE_DTYPE {

CellKind parse_cell_kind(std::string_view name) {
  if (name == "rnn") return CellKind::rnn;
  if (name == "gru") return CellKind::gru;
  if (name == "lstm") return CellKind::lstm;
  throw ValueError("char_rnn", "a cell rnn, gru or lstm", "'" + std::string(name) + "'");
}

CharRNN::Layers CharRNN::layers_of(const Scope& scope, const CharRNNConfig& c) {
  if (c.forget_bias && c.cell != CellKind::lstm) throw ValueError("char_rnn", "lstm cells for a forget bias", "others");
  switch (c.cell) {
    case CellKind::rnn:
      return Layers(std::in_place_type<RNN>, scope, c.embedding, c.hidden,
                    RNNOptions{.layers = c.layers, .dropout = c.dropout, .init = c.init});
    case CellKind::gru:
      return Layers(std::in_place_type<GRU>, scope, c.embedding, c.hidden,
                    GRUOptions{.layers = c.layers, .dropout = c.dropout, .init = c.init});
    case CellKind::lstm:
      break;
  }
  return Layers(std::in_place_type<LSTM>, scope, c.embedding, c.hidden,
                LSTMOptions{.layers = c.layers, .dropout = c.dropout, .forget_bias = c.forget_bias, .init = c.init});
}

CharRNN::CharRNN(const Scope& scope, const CharRNNConfig& config)
    : config_(config),
      embedding_(scope / "embedding", config.vocab, config.embedding),
      layers_(layers_of(scope / "rnn", config)),
      dropout_(scope / "dropout", config.dropout),
      head_(scope / "head", config.hidden, config.vocab) {}

CharRNNOutput CharRNN::operator()(const IndexArray& ids, const CharRNNState& state) const {
  if (ids.dimension() != 2) throw ShapeError("char_rnn", "ids [B, T]", ids.shape());
  const Tensor x = embedding_(ids);
  CharRNNOutput out;
  Tensor y;
  if (const auto* lstm = std::get_if<LSTM>(&layers_)) {
    const LSTMOutput s = (*lstm)(x, state);
    y = s.y;
    out.state = s.state;
  } else {
    if (!state.c.empty()) throw ShapeError("char_rnn", "a state without c, which only lstm cells have", state.c.size());
    const RNNState hidden = {state.h};
    if (const auto* gru = std::get_if<GRU>(&layers_)) {
      const GRUOutput s = (*gru)(x, hidden);
      y = s.y;
      out.state.h = s.state.h;
    } else {
      const RNNOutput s = std::get<RNN>(layers_)(x, hidden);
      y = s.y;
      out.state.h = s.state.h;
    }
  }
  out.logits = head_(dropout_(y));
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
