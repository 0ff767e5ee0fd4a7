#include <xtape/core/error.hpp>
#include <xtape/models/char_rnn.hpp>
#include <xtape/nn/gru.hpp>
#include <xtape/nn/lstm.hpp>
#include <xtape/nn/rnn.hpp>

namespace xtape::inline XTAPE_DTYPE {

CellKind parse_cell_kind(std::string_view name) {
  if (name == "rnn") return CellKind::rnn;
  if (name == "gru") return CellKind::gru;
  if (name == "lstm") return CellKind::lstm;
  throw ValueError("char_rnn", "a cell rnn, gru or lstm", "'" + std::string(name) + "'");
}

namespace {

RecurrentStack recurrent_layers(const Scope& scope, const CharRNNConfig& c) {
  if (c.forget_bias && c.cell != CellKind::lstm) throw ValueError("char_rnn", "lstm cells for a forget bias", "others");
  switch (c.cell) {
    case CellKind::rnn:
      return RNN(scope, c.embedding, c.hidden, {.layers = c.layers, .dropout = c.dropout, .init = c.init});
    case CellKind::gru:
      return GRU(scope, c.embedding, c.hidden, {.layers = c.layers, .dropout = c.dropout, .init = c.init});
    case CellKind::lstm:
      break;
  }
  return LSTM(scope, c.embedding, c.hidden,
              {.layers = c.layers, .dropout = c.dropout, .forget_bias = c.forget_bias, .init = c.init});
}

}  // namespace

CharRNN::CharRNN(const Scope& scope, const CharRNNConfig& config)
    : config_(config),
      embedding_(scope / "embedding", config.vocab, config.embedding),
      layers_(recurrent_layers(scope / "rnn", config)),
      dropout_(scope / "dropout", config.dropout),
      head_(scope / "head", config.hidden, config.vocab) {}

CharRNNOutput CharRNN::operator()(const IndexArray& ids, const RecurrentState& state) const {
  if (ids.dimension() != 2) throw ShapeError("char_rnn", "ids [B, T]", ids.shape());
  const auto [y, next] = layers_(embedding_(ids), state);
  return {head_(dropout_(y)), next};
}

}  // namespace xtape::inline XTAPE_DTYPE
