// Text from a language model, one token at a time.
#pragma once

#include <xtape/models/char_rnn.hpp>
#include <xtape/models/transformer_lm.hpp>

#include <vector>

namespace xtape::inline XTAPE_FLAVOUR {

struct GenerateOptions {
  index_t length;          ///< tokens to draw
  double temperature = 1;  ///< divides the logits; 0 takes the most likely token
  std::uint64_t seed = 0;
};

/// The tokens that follow `prompt` [T], each drawn from softmax(logits / temperature) given the last config().context
/// tokens before it. Call store.eval() first if the model has dropout. Throws ValueError for an empty prompt, a
/// negative length, or a temperature that is negative or not finite; IndexError for a token outside the vocabulary.
std::vector<index_t> generate(const TransformerLM& model, std::vector<index_t> prompt, const GenerateOptions& options);

/// The same given all tokens before: the state carries them from one step to the next.
std::vector<index_t> generate(const CharRNN& model, std::vector<index_t> prompt, const GenerateOptions& options);

}  // namespace xtape::inline XTAPE_FLAVOUR
