#include <xtape/core/error.hpp>
#include <xtape/models/generate.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_FLAVOUR {

namespace {

/// The logits [V] that follow the last `context` tokens.
std::vector<double> next_logits(const TransformerLM& model, const std::vector<index_t>& tokens) {
  const auto context = static_cast<std::size_t>(model.config().context);
  const std::size_t length = std::min(tokens.size(), context);
  IndexArray ids(Shape{1, length});
  std::copy(tokens.end() - static_cast<std::ptrdiff_t>(length), tokens.end(), ids.begin());
  const Tensor logits = model(ids);
  return {logits.data() + logits.size() - logits.extent(-1), logits.data() + logits.size()};
}

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

}  // namespace

std::vector<index_t> generate(const TransformerLM& model, std::vector<index_t> prompt, const GenerateOptions& options) {
  if (prompt.empty()) throw ValueError("generate", "the prompt is empty");
  if (options.length < 0) throw ValueError("generate", "the length must not be negative");
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    throw ValueError("generate",
                     "the temperature must not be negative or infinite, but is " + std::to_string(options.temperature));
  const std::size_t given = prompt.size();
  std::vector<index_t> tokens = std::move(prompt);
  Random random(options.seed, "generate");
  for (index_t i = 0; i < options.length; ++i)
    tokens.push_back(draw(next_logits(model, tokens), options.temperature, random));
  tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(given));
  return tokens;
}

}  // namespace xtape::inline XTAPE_FLAVOUR
