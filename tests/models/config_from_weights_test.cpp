#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

WeightShapes shapes_in(const ParamStore& store) {
  WeightShapes shapes;
  for (const Parameter& parameter : store.parameters()) shapes.emplace(parameter.name(), parameter.shape());
  return shapes;
}

/// Returns whether a model of this configuration has exactly these parameters.
template <class Model, class Config>
void check_built(const WeightShapes& shapes, const Config& config) {
  ParamStore store;
  const Model model(store.root(), config);
  CHECK(shapes_in(store) == shapes);
}

}  // namespace

TEST_CASE("the configuration of a recurrent model follows from its weights") {
  for (const CellKind cell : {CellKind::rnn, CellKind::gru, CellKind::lstm}) {
    ParamStore store;
    const CharRNN model(store.root(), {.vocab = 7, .cell = cell, .embedding = 3, .hidden = 5, .layers = 2});
    const CharRNNConfig config = char_rnn_config_from(shapes_in(store));
    CHECK(config.cell == cell);
    check_built<CharRNN>(shapes_in(store), config);
  }
}

TEST_CASE("the configuration of a transformer follows from its weights") {
  for (const bool tied : {false, true})
    for (const bool bias : {false, true})
      for (const bool head_bias : {false, true}) {
        ParamStore store;
        const TransformerLM model(store.root(), {.vocab = 7,
                                                 .context = 6,
                                                 .width = 4,
                                                 .heads = 2,
                                                 .layers = 2,
                                                 .hidden = 9,
                                                 .tied_head = tied,
                                                 .bias = bias,
                                                 .norm_bias = bias,
                                                 .head_bias = head_bias});
        const TransformerLMConfig config = transformer_lm_config_from(shapes_in(store), 2, 99);
        CHECK(config.context == 6);
        CHECK(config.tied_head == tied);
        check_built<TransformerLM>(shapes_in(store), config);
      }
  ParamStore store;
  const TransformerLM model(store.root(), {.vocab = 7, .width = 4, .heads = 2, .positions = Positions::sinusoidal});
  const TransformerLMConfig config = transformer_lm_config_from(shapes_in(store), 2, 99);
  CHECK(config.context == 99);
  check_built<TransformerLM>(shapes_in(store), config);
}

TEST_CASE("weights that match no model are refused") {
  check_throws<ValueError>([] { char_rnn_config_from({}); }, "[char_rnn] the weights have no embedding.weight");
  check_throws<ValueError>([] { char_rnn_config_from({{"embedding.weight", {7}}}); }, ", got (7)");
  check_throws<ValueError>([] { char_rnn_config_from({{"embedding.weight", {7, 0}}}); }, ", got (7,0)");
  check_throws<ValueError>([] { char_rnn_config_from({{"embedding.weight", {7, 3}}, {"rnn.weight_hh_l0", {10, 5}}}); },
                           "expected 1, 3 or 4 times 5 rows of rnn.weight_hh_l0, got 10");
  check_throws<ValueError>([] { transformer_lm_config_from({{"token_embedding.weight", {7, 4}}}, 2, 9); },
                           "the weights have no layers.0.linear1.weight");
}
