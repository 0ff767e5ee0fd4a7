#include <xtape/core/error.hpp>
#include <xtape/models/generate.hpp>
#include <xtape/models/most_likely.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Token ids in order of decreasing logit.
std::vector<index_t> by_likelihood(const std::vector<double>& logits) {
  std::vector<index_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](index_t id) {
    const double x = logits[id];
    return std::isnan(x) ? -std::numeric_limits<double>::infinity() : x;
  };
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return value(a) > value(b); });
  return order;
}

void check_options(const char* op, const GenerateOptions& options) {
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    throw ValueError(op, "a temperature that is finite and at least 0", options.temperature);
  if (options.top_k < 0) throw ValueError(op, "a top_k of at least 0", options.top_k);
  if (!(options.top_p > 0 && options.top_p <= 1)) throw ValueError(op, "a top_p above 0 and at most 1", options.top_p);
}

}  // namespace

index_t sample_token(const std::vector<double>& logits, const GenerateOptions& options, Random& random) {
  check_options("sample_token", options);
  const index_t best = most_likely(logits, "sample_token");
  if (options.temperature == 0) return best;
  const double largest = logits[best];
  const std::vector<index_t> order = by_likelihood(logits);
  const index_t allowed = options.top_k > 0 ? std::min(std::ssize(order), options.top_k) : std::ssize(order);
  std::vector<double> upto;  // cumulative sums of unnormalized probabilities
  for (index_t i = 0; i < allowed; ++i) {
    const double weight = std::exp((logits[order[i]] - largest) / options.temperature);
    upto.push_back((upto.empty() ? 0 : upto.back()) + (std::isnan(weight) ? 0 : weight));
  }
  const double wanted = options.top_p * upto.back();
  const auto last = std::lower_bound(upto.begin(), upto.end() - 1, wanted);  // first token at which the sum reaches it
  const double point = random.uniform() * *last;
  const auto found = std::upper_bound(upto.begin(), last, point);
  return order[found - upto.begin()];
}

namespace {

/// The last row of logits [1, T, V].
std::vector<double> last_row(const Tensor& logits) {
  return {logits.data() + logits.numel() - logits.size(-1), logits.data() + logits.numel()};
}

/// Tokens as a batch of one sequence, [1, T].
IndexArray sequence(std::span<const index_t> tokens) {
  IndexArray ids = empty_array<IndexArray>({1, std::ssize(tokens)});
  std::copy(tokens.begin(), tokens.end(), ids.begin());
  return ids;
}

/// Generates tokens after the prompt. `next_logits(tokens)` returns the logits [V] of the token after `tokens`.
template <class NextLogits>
std::vector<index_t> write(std::vector<index_t> prompt, const GenerateOptions& options, const NextLogits& next_logits) {
  if (prompt.empty()) throw ValueError("generate", "a prompt of at least 1 token", 0);
  if (options.length < 0) throw ValueError("generate", "a length of at least 0", options.length);
  check_options("generate", options);
  const index_t given = std::ssize(prompt);
  std::vector<index_t> tokens = std::move(prompt);
  Random random(options.seed, "generate");
  for (index_t i = 0; i < options.length; ++i) tokens.push_back(sample_token(next_logits(tokens), options, random));
  tokens.erase(tokens.begin(), tokens.begin() + given);
  return tokens;
}

}  // namespace

std::vector<index_t> generate(const TransformerLM& model, std::vector<index_t> prompt, const GenerateOptions& options) {
  const index_t context = model.config().context;
  TransformerCache cache = model.cache(1);
  std::size_t read = 0;  // number of tokens in the cache
  return write(std::move(prompt), options, [&](const std::vector<index_t>& tokens) {
    // Beyond the context the window slides and every token changes its position, so the cache cannot be used.
    if (std::ssize(tokens) > context) return last_row(model(sequence(std::span(tokens).last(context))));
    const Tensor logits = model.step(sequence(std::span(tokens).subspan(read)), cache);
    read = tokens.size();
    return last_row(logits);
  });
}

std::vector<index_t> generate(const CharRNN& model, std::vector<index_t> prompt, const GenerateOptions& options) {
  RecurrentState state;
  std::size_t read = 0;  // number of tokens that the state has processed
  return write(std::move(prompt), options, [&](const std::vector<index_t>& tokens) {
    const CharRNNOutput out = model(sequence(std::span(tokens).subspan(read)), state);
    state = out.state;
    read = tokens.size();
    return last_row(out.logits);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE
