// Generates text from a language model, one token at a time.
#pragma once

#include <xtape/models/char_rnn.hpp>
#include <xtape/models/transformer_lm.hpp>

#include <vector>

namespace xtape::inline XTAPE_DTYPE {

struct GenerateOptions {
  index_t length;          ///< number of tokens to generate
  double temperature = 1;  ///< divisor of the logits; 0 takes the most likely token (greedy)
  index_t top_k = 0;       ///< sample from the k most likely tokens only; 0 means all
  double top_p = 1;  ///< sample from the most likely tokens whose probabilities first sum to p (Holtzman et al. 2020)
  std::uint64_t seed = 0;
};

/// Samples a token from softmax(logits / temperature), logits [V]. top_k restricts the tokens first, then top_p those
/// that are left. Among equal logits the lower ids come first. NaN counts as minus infinity, and such tokens are never
/// drawn. Throws ValueError unless the largest logit is finite, also at temperature 0, and as generate for an option.
index_t sample_token(const std::vector<double>& logits, const GenerateOptions& options, Random& random);

/// Returns the `length` tokens that follow `prompt`. Each is sampled given the last config().context tokens before it.
/// Keys and values are cached until the context is full; each later token takes a whole forward pass. Call store.eval()
/// first if the model has dropout. Throws ValueError for an empty prompt, a negative length or top_k, a temperature
/// that is negative or not finite, a top_p outside (0, 1], or logits that no token can be sampled from (see
/// sample_token); IndexError for a token outside the vocabulary.
std::vector<index_t> generate(const TransformerLM& model, std::vector<index_t> prompt, const GenerateOptions& options);

/// Like the above, but each token is sampled given all tokens before it, which the recurrent state summarizes.
std::vector<index_t> generate(const CharRNN& model, std::vector<index_t> prompt, const GenerateOptions& options);

}  // namespace xtape::inline XTAPE_DTYPE
