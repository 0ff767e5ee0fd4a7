#include <xtape/core/error.hpp>
#include <xtape/models/generate.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace xtape::inline XTAPE_FLAVOUR {

namespace {

index_t draw(const std::vector<double>& logits, double temperature, Random& random) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  const index_t most_likely = largest - logits.begin();
  if (temperature == 0) return most_likely;
  std::vector<double> upto;  // sums of unnormalised probabilities
  for (double logit : logits)
    upto.push_back((upto.empty() ? 0 : upto.back()) + std::exp((logit - *largest) / temperature));
  const double point = random.uniform() * upto.back();
  const auto found = std::upper_bound(upto.begin(), upto.end(), point);
  return found == upto.end() ? most_likely : found - upto.begin();  // the end: rounding, or logits that are NaN
}

/// The last row of logits [1, T, V].
std::vector<double> last_row(const Tensor& logits) {
  return {logits.data() + logits.size() - logits.extent(-1), logits.data() + logits.size()};
}

/// Tokens as one sequence, [1, T].
IndexArray sequence(std::span<const index_t> tokens) {
  IndexArray ids(Shape{1, tokens.size()});
  std::copy(tokens.begin(), tokens.end(), ids.begin());
  return ids;
}

/// `next_logits(tokens)` gives the logits [V] of the token after all those so far.
template <class NextLogits>
std::vector<index_t> write(std::vector<index_t> prompt, const GenerateOptions& options, const NextLogits& next_logits) {
  if (prompt.empty()) throw ValueError("generate", "the prompt is empty");
  if (options.length < 0) throw ValueError("generate", "the length must not be negative");
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    throw ValueError("generate",
                     "the temperature must not be negative or infinite, but is " + std::to_string(options.temperature));
  const std::size_t given = prompt.size();
  std::vector<index_t> tokens = std::move(prompt);
  Random random(options.seed, "generate");
  for (index_t i = 0; i < options.length; ++i) tokens.push_back(draw(next_logits(tokens), options.temperature, random));
  tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(given));
  return tokens;
}

}  // namespace

std::vector<index_t> generate(const TransformerLM& model, std::vector<index_t> prompt, const GenerateOptions& options) {
  const auto context = static_cast<std::size_t>(model.config().context);
  return write(std::move(prompt), options, [&](const std::vector<index_t>& tokens) {
    return last_row(model(sequence(std::span(tokens).last(std::min(tokens.size(), context)))));
  });
}

std::vector<index_t> generate(const CharRNN& model, std::vector<index_t> prompt, const GenerateOptions& options) {
  CharRNNState state;
  std::size_t read = 0;  // tokens that the state has seen
  return write(std::move(prompt), options, [&](const std::vector<index_t>& tokens) {
    const CharRNNOutput out = model(sequence(std::span(tokens).subspan(read)), state);
    state = out.state;
    read = tokens.size();
    return last_row(out.logits);
  });
}

}  // namespace xtape::inline XTAPE_FLAVOUR
