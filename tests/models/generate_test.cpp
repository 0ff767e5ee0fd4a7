#include <xtape/models/generate.hpp>

#include "support.hpp"

#include <algorithm>
#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

struct Fixture {
  ParamStore store{3};
  TransformerLM model{store.root(), {.vocab = 5, .context = 3, .width = 8, .heads = 2, .layers = 1}};
};

/// The token with the largest logit after at most three tokens.
index_t most_likely(const TransformerLM& model, const std::vector<index_t>& tokens) {
  const std::size_t length = std::min<std::size_t>(tokens.size(), 3);
  IndexArray ids(Shape{1, length});
  for (std::size_t i = 0; i < length; ++i) ids(0, i) = tokens[tokens.size() - length + i];
  const Tensor logits = model(ids);
  const real* last = logits.data() + (length - 1) * 5;
  return std::max_element(last, last + 5) - last;
}

}  // namespace

TEST_CASE("at temperature 0 each token is the most likely one after the last context tokens") {
  Fixture f;
  for (std::size_t i = 0; i < 5; ++i) f.store.parameter("head.bias").edit()[i] = static_cast<real>(0.001 * i);
  std::vector<index_t> tokens = {4, 0};
  const std::vector<index_t> written = generate(f.model, tokens, {.length = 8, .temperature = 0});
  CHECK(written.size() == 8);
  for (index_t token : written) {
    CHECK(token == most_likely(f.model, tokens));
    tokens.push_back(token);
  }
}

TEST_CASE("tokens are drawn with the probabilities of the tempered softmax") {
  Fixture f;
  Parameter weight = f.store.parameter("head.weight"), bias = f.store.parameter("head.bias");
  std::fill_n(weight.edit(), weight.size(), real{0});  // the logits are the bias
  const std::vector<double> probability = {0.4, 0.1, 0.3, 0.15, 0.05};
  const double temperature = 0.7;
  for (std::size_t i = 0; i < 5; ++i) bias.edit()[i] = static_cast<real>(temperature * std::log(probability[i]));
  const index_t draws = 4000;
  const auto written = generate(f.model, {0}, {.length = draws, .temperature = temperature, .seed = 1});
  for (index_t token = 0; token < 5; ++token) {
    const double p = probability[static_cast<std::size_t>(token)];
    const double share = static_cast<double>(std::count(written.begin(), written.end(), token)) / draws;
    INFO(token, ": ", share, " for ", p);
    CHECK(std::abs(share - p) < 4 * std::sqrt(p * (1 - p) / draws));
  }
  CHECK(written == generate(f.model, {0}, {.length = draws, .temperature = temperature, .seed = 1}));
  CHECK(written != generate(f.model, {0}, {.length = draws, .temperature = temperature, .seed = 2}));
}

TEST_CASE("a recurrent model writes what follows all tokens before") {
  ParamStore store(3);
  const CharRNN model(store.root(), {.vocab = 5, .cell = CellKind::gru, .embedding = 3, .hidden = 8});
  std::vector<index_t> tokens = {4, 0, 2, 2};
  const std::vector<index_t> written = generate(model, tokens, {.length = 8, .temperature = 0});
  CHECK(written.size() == 8);
  for (index_t token : written) {
    IndexArray ids(Shape{1, tokens.size()});
    std::copy(tokens.begin(), tokens.end(), ids.begin());
    const Tensor logits = model(ids).logits;
    const real* last = logits.data() + logits.size() - 5;
    CHECK(token == std::max_element(last, last + 5) - last);
    tokens.push_back(token);
  }
}

TEST_CASE("wrong arguments of generate") {
  const Fixture f;
  CHECK(generate(f.model, {1}, {.length = 0}).empty());
  check_throws<ValueError>([&] { generate(f.model, {}, {.length = 1}); }, "[generate] the prompt is empty");
  check_throws<ValueError>([&] { generate(f.model, {1}, {.length = -1}); }, "the length must not be negative");
  for (double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    check_throws<ValueError>([&] { generate(f.model, {1}, {.length = 1, .temperature = bad}); }, "the temperature");
  check_throws<IndexError>([&] { generate(f.model, {5}, {.length = 1}); }, "");
}
