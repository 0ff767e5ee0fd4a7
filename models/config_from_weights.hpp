// Derives the configuration of a model from the shapes of its weights.
#pragma once

#include <xtape/models/char_rnn.hpp>
#include <xtape/models/transformer_lm.hpp>

#include <map>
#include <string>

namespace xtape::inline XTAPE_DTYPE {

using WeightShapes = std::map<std::string, Shape>;  ///< by parameter name

/// The configuration of a CharRNN with these weights. The number of gates gives the kind of cell. Throws ValueError
/// that names a weight if it is missing or if no CharRNN has a weight of its shape.
CharRNNConfig char_rnn_config_from(const WeightShapes& shapes);

/// The configuration of a TransformerLM with these weights. Biases exist where the weights have them; the head is tied
/// if it has no weight of its own. The shapes do not tell the number of heads, so `heads` does. `context` is used if
/// there is no position_embedding.weight; then the positions are sinusoidal. Throws ValueError as above.
TransformerLMConfig transformer_lm_config_from(const WeightShapes& shapes, index_t heads, index_t context);

}  // namespace xtape::inline XTAPE_DTYPE
