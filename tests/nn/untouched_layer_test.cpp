// Attention layers: what is hidden or padded has no influence, whatever it holds.
#include "core/evaluate.hpp"
#include "core/hidden_keys.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

constexpr double kLayerPoisons[] = {kNaN, kInf, -kInf, 0.9 * std::numeric_limits<real>::max()};

struct NamedConfig {
  std::string name;
  AttentionConfig config;
};

std::vector<NamedConfig> configs() {
  std::vector<NamedConfig> out;
  for (const std::string& name : attention_config_names())
    if (name != "gqa" && name != "mqa") out.push_back({name, attention_config(name, 1)});
  out.push_back({"alibi", {.positions = AttentionPositions::alibi}});
  out.push_back({"additive alibi", {.kind = AttentionKind::additive, .positions = AttentionPositions::alibi}});
  return out;
}

AttentionWeights operands() {
  return {.score_weight = Tensor(array({1, 2}, {0.5, -1})),
          .features = Tensor(array({3, 2}, {1, -1, 0.5, 0.25, -0.5, 2}))};
}

const Limits kLayerClose = {tolerance(1e-11, 2e-5), tolerance(1e-13, 1e-6)};

/// y and the gradients of x, of the memory (if there is one) and of all parameters.
std::vector<Array> layer_pass(const ParamStore& store, const MultiHeadAttention& layer, const Array& x,
                              const Array* memory, const AttentionMasks& masks, const Array& dy) {
  for (const Parameter& p : store.parameters()) Parameter(p).zero_grad();
  Tape tape;
  const Tensor in = tape.variable(x), m = memory ? tape.variable(*memory) : Tensor();
  const Tensor y = memory ? layer(in, m, masks) : layer(in, masks);
  tape.backward(y, dy);
  std::vector<Array> out = {y.value(), tape.grad(in)};
  if (memory) out.push_back(tape.grad(m));
  for (const Parameter& p : store.parameters()) out.push_back(p.grad());
  return out;
}

}  // namespace

TEST_CASE("every kind of attention: what a query does not see has no influence on it") {
  const std::vector<Array> clean_operands = {sample({1, 1, 3, 2}, 1, 0.1, 1), sample({1, 1, 3, 2}, 2, 0.1, 1),
                                             sample({1, 1, 3, 2}, 3), sample({1, 1, 3, 2}, 4)};
  const Mask padding = mask({1, 3}, {false, false, true});
  for (const auto& [name, config] : configs()) {
    const auto run = [config = config, &padding](const std::vector<Array>& x) {
      return evaluate(
          [&](Inputs a) {
            return attend(config, a[0], a[1], a[2], {.causal = true, .key_padding = padding}, operands());
          },
          {x[0], x[1], x[2]}, x[3]);
    };
    const Evaluated clean = run(clean_operands);
    for (double poison : kLayerPoisons) {
      for (std::size_t what = 0; what < 4; ++what) {
        for (std::size_t at = 0; at < 3; ++at) {
          INFO(name, ": ", poison, " in row ", at, " of operand ", what);
          std::vector<Array> x = clean_operands;
          x[what] = with_row(x[what], at, poison);
          const Evaluated e = run(x);
          for (std::size_t t = 0; t < 3; ++t) {
            if (what == 3 || !query_reads(t, what, at))
              check_near(row_of(e.value, t), row_of(clean.value, t), kLayerClose);
            for (std::size_t input = 0; input < 3; ++input)
              if (!gradient_reads(input, t, what, at))
                check_near(row_of(e.grads[input], t), row_of(clean.grads[input], t), kLayerClose);
          }
          for (std::size_t input : {1, 2}) check_equal(row_of(e.grads[input], 2), array({1, 1, 1, 2}, {0, 0}));
        }
      }
    }
  }
}

TEST_CASE("every kind of attention: padded rows that are NaN or infinite do not reach any gradient") {
  const Mask padding = mask({2, 3}, {false, false, true, false, true, true});
  const auto poisoned = [&](Array x, double value) {
    for (std::size_t row = 0; row < 6; ++row)
      if (padding.data()[row]) x = with_row(x, row, value);
    return x;
  };
  for (const auto& [name, config] : configs()) {
    ParamStore store(1);
    const MultiHeadAttention layer(store.root() / "a", {.width = 4, .heads = 2, .attention = config});
    const Array x = sample({2, 3, 4}, 1), queries = sample({2, 2, 4}, 2), dy = sample({2, 3, 4}, 3);
    for (double poison : {kNaN, kInf, -kInf}) {
      INFO(name, ", padded rows of ", poison);
      for (const bool causal : {false, true}) {
        const AttentionMasks masks = {.causal = causal, .key_padding = padding};
        const std::vector<Array> clean = layer_pass(store, layer, poisoned(x, 0), nullptr, masks, dy);
        const std::vector<Array> got = layer_pass(store, layer, poisoned(x, poison), nullptr, masks, dy);
        for (std::size_t i = 0; i < clean.size(); ++i) {
          if (i != 1) check_near(got[i], clean[i], kLayerClose);
          for (real v : got[i]) CHECK(std::isfinite(static_cast<double>(v)));
        }
        const Tensor seen(poisoned(x, poison));
        check_near(layer.weights(seen, masks).value(), layer.weights(Tensor(poisoned(x, 0)), masks).value(),
                   kLayerClose);
        const Array memory = poisoned(x, poison), zeros = poisoned(x, 0);
        const Array up = sample({2, 2, 4}, 4);
        const std::vector<Array> clean_cross = layer_pass(store, layer, queries, &zeros, masks, up);
        const std::vector<Array> cross = layer_pass(store, layer, queries, &memory, masks, up);
        for (std::size_t i = 0; i < cross.size(); ++i) check_near(cross[i], clean_cross[i], kLayerClose);
        for (std::size_t row = 0; row < 6; ++row)
          for (std::size_t c = 0; padding.data()[row] && c < 4; ++c) CHECK(cross[2].data()[row * 4 + c] == 0);
      }
    }
  }
}

TEST_CASE("attend takes the scale of its configuration alone, for every kind") {
  const Tensor q(sample({1, 1, 3, 2}, 1, 0.1, 1)), k(sample({1, 1, 3, 2}, 2, 0.1, 1)), v(sample({1, 1, 3, 2}, 3));
  for (auto [name, config] : configs()) {
    INFO(name);
    for (double scale : {0.0, 1.0, 0.3}) {
      config.scale = scale;
      const Array want = attend(config, q, k, v, {.scale = scale}, operands()).value();
      for (double other : {0.0, 1.0, 5.0})
        check_equal(attend(config, q, k, v, {.scale = other}, operands()).value(), want);
    }
  }
}

TEST_CASE("quadratic attention of large queries and keys") {
  const Array q = sample({1, 1, 3, 2}, 1), k = sample({1, 1, 4, 2}, 2), v = sample({1, 1, 4, 3}, 3),
              dy = sample({1, 1, 3, 3}, 4);
  const auto times = [](double factor, Array x) {
    for (real& element : x) element = static_cast<real>(factor * static_cast<double>(element));
    return x;
  };
  for (const bool causal : {false, true}) {
    const auto at = [&](double a, double b) {
      return evaluate(
          [&](Inputs x) { return attend({.kind = AttentionKind::quadratic}, x[0], x[1], x[2], {.causal = causal}); },
          {times(a, q), times(b, k), v}, dy);
    };
    const Evaluated base = at(1e5, 1e5);  // so large that the 1 beside the product no longer counts
    for (double a : {1e4, 1e12, 1e20, 1e30}) {
      for (double b : {1e12, 1e20, 1e30}) {
        INFO("queries by ", a, ", keys by ", b);
        const Evaluated e = at(a, b);
        check_near(e.value, base.value, {tolerance(1e-8, 2e-5), 1e-6});
        check_near(e.grads[2], base.grads[2], {tolerance(1e-8, 2e-5), 1e-6});
        check_near(times(a / 1e5, e.grads[0]), base.grads[0], {1e-4, 1e-9});
        check_near(times(b / 1e5, e.grads[1]), base.grads[1], {1e-4, 1e-9});
      }
    }
  }
}

TEST_CASE("random features of large queries and keys stay finite, and equal keys share the weight") {
  const double large = kDouble ? 1e160 : 1e20;
  for (const char* name : {"rff", "prf"}) {
    for (double of_q : {1.0, large}) {
      for (double of_k : {1.0, large}) {
        INFO(name, ", queries of ", of_q, ", keys of ", of_k);
        const Array q = array({1, 1, 1, 2}, {of_q, of_q}), k = array({1, 1, 2, 2}, {of_k, of_k, of_k, of_k});
        const Evaluated e =
            evaluate([&](Inputs a) { return attend(attention_config(name, 1), a[0], a[1], a[2], {}, operands()); },
                     {q, k, array({1, 1, 2, 1}, {1, 3})});
        check_near(e.value, array({1, 1, 1, 1}, {2}), {1e-6, 0});
        check_near(e.grads[2], array({1, 1, 2, 1}, {0.5, 0.5}), {1e-6, 0});
      }
    }
  }
}

TEST_CASE("options of an attention layer at their neutral value give the bits of the layer without them") {
  const Array x = sample({2, 3, 4}, 1), dy = sample({2, 3, 4}, 2);
  const Mask none = mask({2, 3}, {false, false, false, false, false, false});
  const auto all = [&](const MultiHeadAttentionOptions& options, const AttentionMasks& masks, bool cross) {
    ParamStore store(1);
    const MultiHeadAttention layer(store.root() / "a", options);
    if (options.dropout > 0) store.eval();
    return layer_pass(store, layer, x, cross ? &x : nullptr, masks, dy);
  };
  for (const auto& [name, config] : configs()) {
    for (const bool causal : {false, true}) {
      INFO(name, causal ? ", causal" : "");
      const MultiHeadAttentionOptions options = {.width = 4, .heads = 2, .attention = config};
      const std::vector<Array> plain = all(options, {.causal = causal}, false);
      const auto same = [&](const char* title, const MultiHeadAttentionOptions& o, const AttentionMasks& masks) {
        INFO(title);
        const std::vector<Array> got = all(o, masks, false);
        for (std::size_t i = 0; i < plain.size(); ++i) check_equal(got[i], plain[i]);
      };
      same("a key_padding that hides nothing", options, {.causal = causal, .key_padding = none});
      MultiHeadAttentionOptions given = options;
      given.attention.key_heads = 2;
      given.attention.head_width = given.attention.value_width = 2;
      given.attention.scale = 1 / std::sqrt(2.0);
      same("the usual sizes and scale", given, {.causal = causal});
      given = options;
      given.dropout = 0.5;
      same("dropout outside training", given, {.causal = causal});
      const std::vector<Array> cross = all(options, {.causal = causal}, true);
      check_near(cross[0], plain[0], kLayerClose);
      if (!is_linear(config.kind)) {
        Mask flat = causal_mask(3, 3);
        flat.fill(false);
        same("a mask that hides nothing", options, {.causal = causal, .mask = flat});
      }
    }
  }
}

TEST_CASE("elu attention keeps the digits of features far below zero") {
  const Array q = array({1, 1, 1, 2}, {-30, -31}), k = array({1, 1, 2, 2}, {-20, -22, -21, -20}),
              v = array({1, 1, 2, 1}, {1, 3});
  const auto weight = [](double a, double b) { return std::exp(-30 + a) + std::exp(-31 + b); };
  const double first = weight(-20, -22), second = weight(-21, -20);
  const Evaluated e =
      evaluate([](Inputs a) { return attend({.kind = AttentionKind::elu}, a[0], a[1], a[2], {}); }, {q, k, v});
  check_near(e.value, array({1, 1, 1, 1}, {(first + 3 * second) / (first + second)}), {tolerance(1e-12, 2e-6), 0});
  check_near(e.grads[2], array({1, 1, 2, 1}, {first / (first + second), second / (first + second)}),
             {tolerance(1e-12, 2e-6), 0});
}

TEST_CASE("quadratic attention decodes step by step what it computes at once, with a large position among small ones") {
  ParamStore store(1);
  const MultiHeadAttention layer(store.root() / "a",
                                 {.width = 4, .heads = 2, .attention = attention_config("quadratic", 2)});
  Array x = sample({1, 5, 4}, 1);
  for (std::size_t i = 0; i < 4; ++i) x(0, 2, i) *= real(1e15);
  const Array whole = layer(Tensor(x), {.causal = true}).value();
  AttentionCache cache = layer.cache(1, 8);
  for (index_t t = 0; t < 5; ++t) {
    const Array step = layer.step(slice(Tensor(x), 1, t, t + 1), cache).value();
    check_near(step, steps(Tensor(whole), t, t + 1), {tolerance(1e-9, 1e-4), tolerance(1e-9, 1e-4)});
  }
}

TEST_CASE("elu attention does not change when queries or keys below zero are shifted further down") {
  const Array q = sample({1, 1, 3, 2}, 1, -2, -0.5), k = sample({1, 1, 4, 2}, 2, -2, -0.5), v = sample({1, 1, 4, 3}, 3);
  const auto at = [&](double by_q, double by_k) {
    return evaluate([](Inputs a) { return attend({.kind = AttentionKind::elu}, a[0], a[1], a[2], {.causal = true}); },
                    {(Tensor(q) + static_cast<real>(by_q)).value(), (Tensor(k) + static_cast<real>(by_k)).value(), v});
  };
  const Evaluated base = at(0, 0);
  for (double by_q : {0.0, -20.0, -64.0, -4096.0}) {
    for (double by_k : {0.0, -20.0, -64.0, -4096.0}) {
      INFO("queries by ", by_q, ", keys by ", by_k);
      const Evaluated e = at(by_q, by_k);
      const Limits close = {tolerance(1e-10, 2e-3), tolerance(1e-11, 1e-3)};  // a sum with 4096 loses digits of floats
      check_near(e.value, base.value, close);
      for (std::size_t i = 0; i < 3; ++i) check_near(e.grads[i], base.grads[i], close);
    }
  }
}
