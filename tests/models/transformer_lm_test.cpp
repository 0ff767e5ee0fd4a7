#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

const TransformerLMConfig kSmall = {.vocab = 11, .context = 8, .width = 12, .heads = 3, .layers = 2};

IndexArray tokens(index_t batch, index_t length, std::uint64_t seed, index_t vocab = 11) {
  IndexArray out = empty_array<IndexArray>({batch, length});
  Random random(seed, "tokens");
  for (index_t& token : out) token = random.below(vocab);
  return out;
}

std::vector<std::string> names(const ParamStore& store) {
  std::vector<std::string> out;
  for (const auto& [name, parameter] : store.entries()) out.push_back(name);
  return out;
}

std::size_t differing_positions(const Array& a, const Array& b, std::size_t begin, std::size_t end) {
  std::size_t count = 0;
  for (std::size_t t = begin; t < end; ++t) {
    bool same = true;
    for (std::size_t v = 0; v < a.shape()[2]; ++v) same = same && a(0, t, v) == b(0, t, v);
    count += !same;
  }
  return count;
}

}  // namespace

TEST_CASE("TransformerLM: parameters have the names of PyTorch's encoder layers") {
  ParamStore store;
  TransformerLMConfig config = kSmall;
  config.layers = 1;
  TransformerLM model(store.root(), config);
  CHECK(names(store) ==
        std::vector<std::string>{"token_embedding.weight", "position_embedding.weight", "layers.0.norm1.weight",
                                 "layers.0.norm1.bias", "layers.0.self_attn.in_proj_weight",
                                 "layers.0.self_attn.in_proj_bias", "layers.0.self_attn.out_proj.weight",
                                 "layers.0.self_attn.out_proj.bias", "layers.0.norm2.weight", "layers.0.norm2.bias",
                                 "layers.0.linear1.weight", "layers.0.linear1.bias", "layers.0.linear2.weight",
                                 "layers.0.linear2.bias", "norm.weight", "norm.bias", "head.weight", "head.bias"});
  CHECK(store.parameter("layers.0.linear1.weight").shape() == Shape{48, 12});
  CHECK(store.parameter("position_embedding.weight").shape() == Shape{8, 12});
}

TEST_CASE("TransformerLM: without biases") {
  ParamStore store;
  TransformerLMConfig config = kSmall;
  config.bias = false;
  TransformerLM model(store.root(), config);
  for (const std::string& name : names(store))
    if (name.ends_with(".bias") || name.ends_with("_bias")) CHECK(name.find("norm") != std::string::npos);
  CHECK(model(tokens(1, 3, 1)).shape() == Shape{1, 3, 11});
}

TEST_CASE("TransformerLM: a tied head is the embedding's weight and gets the gradients of both uses") {
  ParamStore store(2);
  TransformerLMConfig config = kSmall;
  config.tied_head = true;
  TransformerLM model(store.root(), config);
  const Parameter embedding = store.parameter("token_embedding.weight");
  CHECK(store.parameter("head.weight").same_as(embedding));
  CHECK(store.contains("head.bias"));
  {
    Tape tape;
    tape.backward(cross_entropy(model(IndexArray{{3, 4}}), IndexArray{{4, 5}}));
  }
  // Through the embedding only rows 3 and 4 get a gradient; through the head all rows do.
  for (std::size_t v = 0; v < 11; ++v) {
    double squares = 0;
    for (std::size_t c = 0; c < 12; ++c) squares += std::pow(static_cast<double>(embedding.grad()(v, c)), 2);
    CHECK(squares > 0);
  }
  ParamStore untied_store;
  TransformerLM untied(untied_store.root(), kSmall);
  CHECK(store.parameter_count() == untied_store.parameter_count() - 11 * 12);
}

TEST_CASE("TransformerLM: sinusoidal positions have no parameters, and logits depend on positions of either kind") {
  for (Positions positions : {Positions::learned, Positions::sinusoidal}) {
    ParamStore store(5);
    TransformerLMConfig config = kSmall;
    config.positions = positions;
    TransformerLM model(store.root(), config);
    CHECK(store.contains("position_embedding.weight") == (positions == Positions::learned));
    const Array logits = model(IndexArray{{7, 7, 7}}).value();  // without positions all three would be equal
    CHECK(differing_positions(logits, model(IndexArray{{7, 7, 7}}).value(), 0, 3) == 0);
    for (std::size_t v = 0; v < 11; ++v) CHECK(logits(0, 0, v) != logits(0, 2, v));
  }
}

TEST_CASE("TransformerLM: later tokens change no bit of earlier logits") {
  ParamStore store(3);
  TransformerLM model(store.root(), kSmall);
  const IndexArray ids = tokens(1, 8, 1);
  const Array logits = model(ids).value();
  for (std::size_t t = 1; t < 8; ++t) {
    IndexArray changed = ids;
    changed(0, t) = (ids(0, t) + 1) % 11;
    const Array other = model(changed).value();
    CHECK(differing_positions(logits, other, 0, t) == 0);
    CHECK(differing_positions(logits, other, t, 8) == 8 - t);
  }
}

TEST_CASE("TransformerLM: a prefix has the logits that it has in the longer text, and rows are independent") {
  ParamStore store(3);
  TransformerLM model(store.root(), kSmall);
  const IndexArray ids = tokens(3, 8, 1);
  const Tensor logits = model(ids);
  const Limits limits{tolerance(1e-11, 1e-4), tolerance(1e-12, 1e-5)};
  IndexArray prefix = empty_array<IndexArray>({1, 5});
  std::copy_n(ids.data() + 8, 5, prefix.data());
  check_near(model(prefix).value(), slice(slice(logits, 0, 1, 2), 1, 0, 5).value(), limits);
}

TEST_CASE("TransformerLM: the initial loss is about ln V") {
  for (WeightInit init : {WeightInit::gpt2, WeightInit::xavier, WeightInit::torch}) {
    ParamStore store(1);
    TransformerLM model(store.root(), {.vocab = 65, .context = 32, .width = 64, .heads = 4, .layers = 2, .init = init});
    const Tensor loss = cross_entropy(model(tokens(8, 32, 1, 65)), tokens(8, 32, 2, 65));
    const double excess = static_cast<double>(loss.item()) - std::log(65.0);
    CHECK(excess > -0.05);
    CHECK(excess < (init == WeightInit::gpt2 ? 0.05 : 0.7));
  }
}

TEST_CASE("TransformerLM: GPT-2's initialization scales the projections into the residual stream") {
  ParamStore store(1);
  TransformerLM model(store.root(), {.vocab = 10, .width = 128, .heads = 4, .layers = 8});
  const auto stddev = [&](const char* name) {
    double squares = 0;
    const Array& w = store.parameter(name).value();
    for (real v : w) squares += static_cast<double>(v) * static_cast<double>(v);
    return std::sqrt(squares / static_cast<double>(w.size()));
  };
  check_near(stddev("layers.3.linear1.weight"), 0.02, {0.02, 0});
  check_near(stddev("layers.3.linear2.weight"), 0.005, {0.02, 0});
  check_near(stddev("layers.3.self_attn.in_proj_weight"), 0.02, {0.02, 0});
  check_near(stddev("layers.3.self_attn.out_proj.weight"), 0.005, {0.02, 0});
}

TEST_CASE("TransformerLM: dropout acts in training only") {
  ParamStore store(3);
  TransformerLMConfig config = kSmall;
  config.dropout = 0.3;
  TransformerLM model(store.root(), config);
  const IndexArray ids = tokens(1, 8, 1);
  CHECK(model(ids).value() != model(ids).value());
  store.eval();
  check_equal(model(ids).value(), model(ids).value());
}

TEST_CASE("TransformerLM: every parameter gets a gradient, and a few steps memorize a text") {
  ParamStore store(3);
  TransformerLM model(store.root(), kSmall);
  AdamW optimizer(decay_groups(store, 0.01));
  const IndexArray inputs = tokens(2, 8, 1), targets = tokens(2, 8, 2);
  double first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    Tape tape;
    const Tensor loss = cross_entropy(model(inputs), targets);
    tape.backward(loss);
    if (step == 0)
      for (const Parameter& p : store.parameters()) CHECK(p.grad_norm() > 0);
    CHECK(optimizer.step(0.01));
    store.zero_grad();
    (step == 0 ? first : last) = static_cast<double>(loss.item());
  }
  CHECK(last < 0.2 * first);
}

TEST_CASE("TransformerLM refuses texts beyond the context, unknown tokens and ids of the wrong rank") {
  ParamStore store;
  TransformerLM model(store.root(), kSmall);
  check_throws<ShapeError>([&] { model(tokens(1, 9, 1)); }, "expected ids [B, T] with T at most 8, got (1,9)");
  check_throws<ShapeError>([&] { model(IndexArray{1, 2, 3}); }, "got (3)");
  check_throws<IndexError>([&] { model(IndexArray{{0, 11}}); }, "11");
  check_throws<IndexError>([&] { model(full_array<IndexArray>({1, 1}, -1)); }, "-1");
}

TEST_CASE("TransformerLM refuses invalid configurations") {
  const auto refused = [](const auto& spoil, const char* part) {
    ParamStore store;
    TransformerLMConfig config = kSmall;
    spoil(config);
    check_throws<ValueError>([&] { TransformerLM model(store.root(), config); }, part);
  };
  using C = TransformerLMConfig;
  refused([](C& c) { c.vocab = 0; },
          "[transformer_lm] expected vocab, context and layers of at least 1, got 0, 8 and 2");
  refused([](C& c) { c.context = 0; }, "got 11, 0 and 2");
  refused([](C& c) { c.layers = 0; }, "got 11, 8 and 0");
  refused([](C& c) { c.width = 0; }, "expected sizes of at least 1, got");
  refused([](C& c) { c.heads = 5; }, "expected heads that divide the width 12, got 5");
  refused([](C& c) { c.dropout = 1.5; }, "expected a dropout probability from 0 to 1, got");
}

TEST_CASE("TransformerLM: cached steps equal the whole, with every kind of attention and positions") {
  std::vector<TransformerLMConfig> configs;
  for (const std::string& name : attention_config_names()) {
    configs.push_back(kSmall);
    configs.back().heads = 2;
    configs.back().attention = attention_config(name, 2);
  }
  for (const char* name : {"learned", "sinusoidal", "rotary", "alibi"}) {
    configs.push_back(kSmall);
    configs.back().positions = parse_positions(name);
  }
  for (const TransformerLMConfig& config : configs) {
    ParamStore store(3);
    const TransformerLM model(store.root(), config);
    const IndexArray ids = tokens(2, 8, 1);
    const Tensor whole = model(ids);
    for (const std::vector<index_t>& chunks : {std::vector<index_t>{8}, {5, 1, 2}, {1, 1, 1, 1, 1, 1, 1, 1}}) {
      TransformerCache cache = model.cache(2);
      index_t done = 0;
      for (index_t size : chunks) {
        IndexArray part = empty_array<IndexArray>({2, size});
        for (std::size_t b = 0; b < 2; ++b)
          for (std::size_t t = 0; t < part.shape()[1]; ++t) part(b, t) = ids(b, static_cast<std::size_t>(done) + t);
        const Tensor y = model.step(part, cache);
        check_near(y.value(), slice(whole, 1, done, done + size).value(),
                   {tolerance(1e-11, 1e-5), tolerance(1e-12, 1e-6)});
        done += size;
      }
      CHECK(cache.lengths() == IndexArray{8, 8});
    }
  }
}

TEST_CASE("TransformerLM: cached steps of sequences of different lengths, and invalid steps") {
  ParamStore store(3);
  const TransformerLM model(store.root(), kSmall);
  const IndexArray ids = tokens(2, 8, 1);
  TransformerCache cache = model.cache(2);
  model.step(IndexArray{{ids(0, 0), ids(0, 1), ids(0, 2)}, {ids(1, 0), 0, 0}}, cache, IndexArray{3, 1});
  IndexArray one = empty_array<IndexArray>({2, 1});
  one(0, 0) = ids(0, 3), one(1, 0) = ids(1, 1);
  const Array y = model.step(one, cache).value();
  const Array whole = model(ids).value();
  for (std::size_t v = 0; v < 11; ++v) {
    check_near(y(0, 0, v), whole(0, 3, v), {0, tolerance(1e-12, 1e-5)});
    check_near(y(1, 0, v), whole(1, 1, v), {0, tolerance(1e-12, 1e-5)});
  }
  CHECK(cache.lengths() == IndexArray{4, 2});
  cache.select(indices({2}, {1, 1}));
  CHECK(cache.lengths() == IndexArray{2, 2});
  CHECK(cache.bytes() > 0);
  check_throws<ValueError>([&] { model.step(tokens(2, 7, 1), cache); }, "expected at most 8 positions, got 9");
  check_throws<ShapeError>([&] { model.step(tokens(1, 2, 1), cache); }, "expected ids [B, T] with B = ");
  check_throws<ValueError>([] { parse_positions("absolute"); },
                           "expected positions learned, sinusoidal, rotary or alibi, got 'absolute'");
}
