// The sizes of a model read off its weights.
#pragma once

#include <xtape/models/char_rnn.hpp>
#include <xtape/models/transformer_lm.hpp>

#include <map>
#include <string>

namespace xtape::inline XTAPE_DTYPE {

using WeightShapes = std::map<std::string, Shape>;  ///< by the names of our parameters

/// A CharRNN of these weights: the kind of cell follows from the number of gates. Throws ValueError, naming the weight
/// that is missing or of a shape that no such model has.
CharRNNConfig char_rnn_config_from(const WeightShapes& shapes);

/// A TransformerLM of these weights: biases are where they are given, the head is tied if it has no weight of its own.
/// `heads` cannot be seen in the shapes. Without position_embedding.weight positions are sinusoidal and `context`
/// counts. Throws as above.
TransformerLMConfig transformer_lm_config_from(const WeightShapes& shapes, index_t heads, index_t context);

}  // namespace xtape::inline XTAPE_DTYPE
