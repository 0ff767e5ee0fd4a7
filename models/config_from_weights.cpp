#include <xtape/core/error.hpp>
#include <xtape/models/config_from_weights.hpp>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Rows and columns of a weight. Throws ValueError.
std::pair<index_t, index_t> matrix(const char* model, const WeightShapes& shapes, const std::string& name) {
  const auto found = shapes.find(name);
  if (found == shapes.end()) throw ValueError(model, "the weights have no " + name);
  if (found->second.rank() != 2 || found->second[0] == 0 || found->second[1] == 0)
    throw ValueError(model, "a matrix " + name, found->second);
  return {found->second[0], found->second[1]};
}

/// Number of consecutive N from 0 for which the name "<before>N<after>" exists.
index_t count(const WeightShapes& shapes, const std::string& before, const std::string& after) {
  index_t n = 0;
  while (shapes.contains(before + std::to_string(n) + after)) ++n;
  return n;
}

}  // namespace

CharRNNConfig char_rnn_config_from(const WeightShapes& shapes) {
  const auto [vocab, embedding] = matrix("char_rnn", shapes, "embedding.weight");
  const auto [rows, hidden] = matrix("char_rnn", shapes, "rnn.weight_hh_l0");
  CharRNNConfig config{.vocab = vocab, .embedding = embedding, .hidden = hidden};
  config.layers = count(shapes, "rnn.weight_hh_l", "");
  if (rows == 4 * hidden) config.cell = CellKind::lstm;
  else if (rows == 3 * hidden) config.cell = CellKind::gru;
  else if (rows == hidden) config.cell = CellKind::rnn;
  else throw ValueError("char_rnn", "1, 3 or 4 times " + std::to_string(hidden) + " rows of rnn.weight_hh_l0", rows);
  return config;
}

TransformerLMConfig transformer_lm_config_from(const WeightShapes& shapes, index_t heads, index_t context) {
  const char* const model = "transformer_lm";
  const auto [vocab, width] = matrix(model, shapes, "token_embedding.weight");
  TransformerLMConfig config{.vocab = vocab, .context = context, .width = width, .heads = heads};
  config.positions = Positions::sinusoidal;
  if (shapes.contains("position_embedding.weight")) {
    config.positions = Positions::learned;
    config.context = matrix(model, shapes, "position_embedding.weight").first;
  }
  config.layers = count(shapes, "layers.", ".linear1.weight");
  config.hidden = matrix(model, shapes, "layers.0.linear1.weight").first;
  config.tied_head = !shapes.contains("head.weight");
  config.bias = shapes.contains("layers.0.linear1.bias");
  config.norm_bias = shapes.contains("layers.0.norm1.bias");
  config.head_bias = shapes.contains("head.bias");
  return config;
}

}  // namespace xtape::inline XTAPE_DTYPE
