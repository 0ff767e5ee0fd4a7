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

/// The token with the largest logit after at most the last three tokens.
index_t most_likely(const TransformerLM& model, const std::vector<index_t>& tokens) {
  const index_t length = std::min<std::size_t>(tokens.size(), 3);
  IndexArray ids = empty_array<IndexArray>({1, length});
  for (index_t i = 0; i < length; ++i) ids(0, i) = tokens[tokens.size() - length + i];
  const Tensor logits = model(ids);
  const real* last = logits.data() + (length - 1) * 5;
  return std::max_element(last, last + 5) - last;
}

}  // namespace

TEST_CASE("generate: at temperature 0 each token is the most likely one after the last context tokens") {
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

TEST_CASE("generate: tokens are sampled with the probabilities of the tempered softmax") {
  Fixture f;
  Parameter weight = f.store.parameter("head.weight"), bias = f.store.parameter("head.bias");
  std::fill_n(weight.edit(), weight.numel(), real{0});  // the logits equal the bias
  const std::vector<double> probability = {0.4, 0.1, 0.3, 0.15, 0.05};
  const double temperature = 0.7;
  for (std::size_t i = 0; i < 5; ++i) bias.edit()[i] = static_cast<real>(temperature * std::log(probability[i]));
  const index_t draws = 4000;
  const auto written = generate(f.model, {0}, {.length = draws, .temperature = temperature, .seed = 1});
  for (index_t token = 0; token < 5; ++token) {
    const double p = probability[token];
    const double share = static_cast<double>(std::count(written.begin(), written.end(), token)) / draws;
    INFO(token, ": ", share, " for ", p);
    CHECK(std::abs(share - p) < 4 * std::sqrt(p * (1 - p) / draws));
  }
  CHECK(written == generate(f.model, {0}, {.length = draws, .temperature = temperature, .seed = 1}));
  CHECK(written != generate(f.model, {0}, {.length = draws, .temperature = temperature, .seed = 2}));
}

TEST_CASE("generate: top-k and top-p sample from the most likely tokens only, with renormalized probabilities") {
  const std::vector<double> probability = {0.4, 0.1, 0.3, 0.15, 0.05};
  std::vector<double> logits;
  for (double p : probability) logits.push_back(std::log(p));
  const auto shares = [&](const GenerateOptions& options) {
    Random random(1, "draws");
    std::vector<double> out(5, 0);
    for (int i = 0; i < 4000; ++i) out[sample_token(logits, options, random)] += 1.0 / 4000;
    return out;
  };
  const auto check_shares = [&](const GenerateOptions& options, const std::vector<double>& want) {
    const std::vector<double> got = shares(options);
    for (std::size_t i = 0; i < 5; ++i) {
      if (want[i] == 0) CHECK(got[i] == 0);
      CHECK(std::abs(got[i] - want[i]) <= 4 * std::sqrt(want[i] * (1 - want[i]) / 4000) + 1e-9);
    }
  };
  check_shares({.length = 1, .top_k = 2}, {4.0 / 7, 0, 3.0 / 7, 0, 0});
  check_shares({.length = 1, .top_k = 1}, {1, 0, 0, 0, 0});
  check_shares({.length = 1, .top_k = 9}, probability);
  check_shares({.length = 1, .top_p = 0.69}, {4.0 / 7, 0, 3.0 / 7, 0, 0});
  check_shares({.length = 1, .top_p = 0.71}, {8.0 / 17, 0, 6.0 / 17, 3.0 / 17, 0});
  check_shares({.length = 1, .top_p = 1e-9}, {1, 0, 0, 0, 0});
  check_shares({.length = 1, .top_k = 3, .top_p = 0.5}, {4.0 / 7, 0, 3.0 / 7, 0, 0});  // 0.4 of 0.85 is less than half
  Random random(1, "draws");
  CHECK(sample_token({1, std::nan(""), 3, 3}, {.length = 1, .temperature = 0}, random) == 2);
}

TEST_CASE("generate: the tokens do not depend on the cache") {
  ParamStore store(3);
  const TransformerLM model(
      store.root(), {.vocab = 5, .context = 12, .width = 8, .heads = 2, .layers = 2, .attention = {.key_heads = 1}});
  std::vector<index_t> tokens = {4, 0, 2};
  const std::vector<index_t> written = generate(model, tokens, {.length = 14, .temperature = 0});
  for (index_t token : written) {
    const index_t length = std::min<std::size_t>(tokens.size(), 12);
    IndexArray ids = empty_array<IndexArray>({1, length});
    std::copy(tokens.end() - static_cast<std::ptrdiff_t>(length), tokens.end(), ids.begin());
    const Tensor logits = model(ids);
    const real* last = logits.data() + logits.numel() - 5;
    CHECK(token == std::max_element(last, last + 5) - last);
    tokens.push_back(token);
  }
}

TEST_CASE("generate: a recurrent model continues from all preceding tokens") {
  ParamStore store(3);
  const CharRNN model(store.root(), {.vocab = 5, .cell = CellKind::gru, .embedding = 3, .hidden = 8});
  std::vector<index_t> tokens = {4, 0, 2, 2};
  const std::vector<index_t> written = generate(model, tokens, {.length = 8, .temperature = 0});
  CHECK(written.size() == 8);
  for (index_t token : written) {
    IndexArray ids = empty_array<IndexArray>({1, std::ssize(tokens)});
    std::copy(tokens.begin(), tokens.end(), ids.begin());
    const Tensor logits = model(ids).logits;
    const real* last = logits.data() + logits.numel() - 5;
    CHECK(token == std::max_element(last, last + 5) - last);
    tokens.push_back(token);
  }
}

TEST_CASE("generate refuses invalid arguments") {
  const Fixture f;
  CHECK(generate(f.model, {1}, {.length = 0}).empty());
  check_throws<ValueError>([&] { generate(f.model, {}, {.length = 1}); },
                           "[generate] expected a prompt of at least 1 token, got 0");
  check_throws<ValueError>([&] { generate(f.model, {1}, {.length = -1}); }, "expected a length of at least 0, got");
  for (double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    check_throws<ValueError>([&] { generate(f.model, {1}, {.length = 1, .temperature = bad}); },
                             "expected a temperature");
  check_throws<ValueError>([&] { generate(f.model, {1}, {.length = 1, .top_k = -1}); },
                           "expected a top_k of at least 0, got");
  for (double bad : {0.0, 1.5, std::numeric_limits<double>::quiet_NaN()})
    check_throws<ValueError>([&] { generate(f.model, {1}, {.length = 1, .top_p = bad}); },
                             "expected a top_p above 0 and at most 1, got");
  check_throws<IndexError>([&] { generate(f.model, {5}, {.length = 1}); }, "");
}

TEST_CASE("a token is not sampled from a distribution that does not exist") {
  Random random(1, "draws");
  const std::vector<std::vector<double>> none = {{kNaN, kNaN}, {-kInf, -kInf}, {kNaN, -kInf}, {},
                                                 {kNaN},       {0, kInf},      {kInf, kInf}};
  for (const std::vector<double>& logits : none)
    for (const double temperature : {0.0, 0.5, 1e6})
      for (const index_t top_k : {0, 1, 5})
        for (const double top_p : {1e-9, 1.0})
          check_throws<ValueError>(
              [&] {
                sample_token(logits, {.length = 1, .temperature = temperature, .top_k = top_k, .top_p = top_p}, random);
              },
              "[sample_token] expected a");
  check_throws<ValueError>([&] { sample_token({kNaN, -kInf}, {.length = 1}, random); },
                           "expected a finite largest of 2 logits, got -Inf");
  for (const double bad : {-1.0, kNaN, kInf})
    check_throws<ValueError>([&] { sample_token({0, 1}, {.length = 1, .temperature = bad}, random); },
                             "[sample_token] expected a temperature");
  for (const double bad : {0.0, 1.5, kNaN})
    check_throws<ValueError>([&] { sample_token({0, 1}, {.length = 1, .top_p = bad}, random); },
                             "expected a top_p above 0 and at most 1, got");
  check_throws<ValueError>([&] { sample_token({0, 1}, {.length = 1, .top_k = -1}, random); },
                           "expected a top_k of at least 0, got");
}

TEST_CASE("a token whose logit is NaN or minus infinity is never sampled") {
  for (const double temperature : {1e-300, 1.0, 1e300})
    for (const index_t top_k : {0, 3, 9}) {
      Random random(1, "draws");
      std::vector<int> drawn(4, 0);
      for (int i = 0; i < 400; ++i)
        ++drawn[sample_token({kNaN, 0, -kInf, 1}, {.length = 1, .temperature = temperature, .top_k = top_k}, random)];
      CHECK(drawn[0] == 0);
      CHECK(drawn[2] == 0);
      CHECK(drawn[3] > 0);
      CHECK((drawn[1] > 0) == (temperature > 0.1));
    }
}

TEST_CASE("a model of NaN generates nothing") {
  Fixture f;
  Parameter weight = f.store.parameter("head.weight");
  std::fill_n(weight.edit(), weight.numel(), real(kNaN));
  for (const double temperature : {0.0, 1.0})
    check_throws<ValueError>([&] { generate(f.model, {3}, {.length = 6, .temperature = temperature}); },
                             "expected a finite largest of 5 logits, got NaN");
  CHECK(generate(f.model, {3}, {.length = 0}).empty());
  ParamStore store(3);
  const CharRNN rnn(store.root(), {.vocab = 5, .embedding = 3, .hidden = 8});
  Parameter bias = store.parameter("head.bias");
  std::fill_n(bias.edit(), bias.numel(), real(kNaN));
  check_throws<ValueError>([&] { generate(rnn, {3}, {.length = 6}); }, "expected a finite largest of ");
}
