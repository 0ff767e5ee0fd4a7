// Text from a language model, one token at a time.
#pragma once

#include <xtape/models/char_rnn.hpp>
#include <xtape/models/transformer_lm.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

struct GenerateOptions {
  index_t length;          ///< tokens to draw
  double temperature = 1;  ///< divides the logits; 0 takes the most likely token (greedy)
  index_t top_k = 0;       ///< draw among the k most likely tokens only; 0 for all
  double top_p = 1;        ///< and among the most likely whose probabilities first reach p (Holtzman et al. 2020)
  std::uint64_t seed = 0;
};

/// A token drawn from softmax(logits / temperature) among those that the options allow: top_k cuts first, then top_p of
/// what is left. Of equally likely tokens those with lower ids are kept; NaN counts as minus infinity.
index_t sample_token(const std::vector<double>& logits, const GenerateOptions& options, Random& random);

/// The tokens that follow `prompt` [T], each drawn given the last config().context tokens before it. Until the context
/// is full, keys and values are cached; past it every token takes a whole pass. Call store.eval() first if the model
/// has dropout. Throws ValueError for an empty prompt, a negative length or top_k, a temperature that is negative or
/// not finite, or a top_p outside (0, 1]; IndexError for a token outside the vocabulary.
std::vector<index_t> generate(const TransformerLM& model, std::vector<index_t> prompt, const GenerateOptions& options);

/// The same given all tokens before: the state carries them from one step to the next.
std::vector<index_t> generate(const CharRNN& model, std::vector<index_t> prompt, const GenerateOptions& options);

}  // namespace xtape::inline XTAPE_DTYPE
