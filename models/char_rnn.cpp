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
  throw ValueError("char_rnn", "there is no cell '" + std::string(name) + "'; there are rnn, gru and lstm");
}

namespace {

RecurrentStack recurrent_layers(const Scope& scope, const CharRNNConfig& c) {
  if (c.forget_bias && c.cell != CellKind::lstm) throw ValueError("char_rnn", "only lstm cells have a forget bias");
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
  if (ids.dimension() != 2)
    fail_shapes<Shape>("char_rnn", "ids must be [B, T]", {Shape(ids.shape().begin(), ids.shape().end())});
  const auto [y, next] = layers_(embedding_(ids), state);
  return {head_(dropout_(y)), next};
}

}  // namespace xtape::inline XTAPE_DTYPE
