// Every kind of attention: properties common to all, and the definition of each.
#include <xtape/nn/multi_head_attention.hpp>

#include <xtape/inspect/measure/gradcheck.hpp>
#include <xtape/nn/attention_kinds.hpp>
#include <xtape/nn/positions.hpp>
#include <xtape/nn/random_features.hpp>

#include "support.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

const Limits kClose = {tolerance(1e-11, 1e-4), tolerance(1e-11, 1e-5)};

/// All kinds by name, also with rotary positions and ALiBi.
std::vector<std::pair<std::string, AttentionConfig>> all_configs() {
  std::vector<std::pair<std::string, AttentionConfig>> out;
  for (const std::string& name : attention_config_names()) out.emplace_back(name, attention_config(name, 4));
  out.push_back({"custom", {.kind = AttentionKind::custom, .feature_map = [](const Tensor& x) { return exp(x); }}});
  out.push_back({"rotary", {.positions = AttentionPositions::rotary}});
  out.push_back({"rotary elu", {.kind = AttentionKind::elu, .positions = AttentionPositions::rotary}});
  out.push_back({"alibi", {.positions = AttentionPositions::alibi}});
  out.push_back({"additive alibi", {.kind = AttentionKind::additive, .positions = AttentionPositions::alibi}});
  out.push_back({"wide values", {.value_width = 6}});
  return out;
}

struct Layer {
  ParamStore store{4};
  MultiHeadAttention attention;
  explicit Layer(const AttentionConfig& config)
      : attention(store.root(), {.width = 8, .heads = 4, .attention = config}) {}
};

/// x with the positions from `first` on replaced by `value`.
Array spoiled(Array x, std::size_t first, real value) {
  for (std::size_t b = 0; b < x.shape()[0]; ++b)
    for (std::size_t t = first; t < x.shape()[1]; ++t)
      for (std::size_t c = 0; c < x.shape()[2]; ++c) x(b, t, c) = value;
  return x;
}

}  // namespace

TEST_CASE("every attention: later positions and padding change no bit, even if they are large or NaN") {
  const Array x = sample({2, 9, 8}, 1);
  for (const auto& [name, config] : all_configs()) {
    INFO(name);
    const Layer layer(config);
    const Tensor causal = layer.attention(Tensor(x), {.causal = true});
    const Tensor padded = layer.attention(Tensor(x), {.key_padding = padding_mask({6, 6}, 9)});
    for (const real other : {real(30), std::numeric_limits<real>::quiet_NaN()}) {
      const Tensor changed(spoiled(x, 6, other));
      check_equal(steps(layer.attention(changed, {.causal = true}), 0, 6), steps(causal, 0, 6));
      check_equal(steps(layer.attention(changed, {.key_padding = padding_mask({6, 6}, 9)}), 0, 6), steps(padded, 0, 6));
    }
    CHECK(steps(layer.attention(Tensor(spoiled(x, 6, 30))), 0, 6) != steps(layer.attention(Tensor(x)), 0, 6));
  }
}

TEST_CASE("every attention: masked positions get exactly zero gradient") {
  for (const auto& [name, config] : all_configs()) {
    INFO(name);
    const Layer layer(config);
    for (const AttentionMasks& masks :
         {AttentionMasks{.causal = true}, AttentionMasks{.key_padding = padding_mask({6, 6}, 9)}}) {
      Tape tape;
      const Tensor x = tape.variable(sample({2, 9, 8}, 1));
      tape.backward(sum(slice(layer.attention(x, masks), 1, 0, 6) * Tensor(sample({2, 6, 8}, 2))));
      const Array grad = tape.grad(x);
      for (real g : steps(Tensor(grad), 6, 9)) CHECK(g == 0);
      double largest = 0;
      for (real g : grad) largest = std::max(largest, std::abs(static_cast<double>(g)));
      CHECK(largest > 1e-3);
    }
  }
}

TEST_CASE("every attention: a position with all keys masked gives the output bias") {
  const Tensor x(sample({2, 3, 8}, 1));
  for (const auto& [name, config] : all_configs()) {
    INFO(name);
    Layer layer(config);
    layer.attention.out_proj.bias.set_value(sample({8}, 9));
    const Tensor y = layer.attention(x, {.key_padding = padding_mask({3, 0}, 3)});
    for (index_t t = 0; t < 3; ++t)
      check_equal(slice(slice(y, 0, 1, 2), 1, t, t + 1).value(), reshape(Tensor(sample({8}, 9)), {1, 1, 8}).value());
  }
}

TEST_CASE("every attention: with the input as memory it equals self-attention, and queries are the last positions") {
  const Tensor x(sample({2, 7, 8}, 1));
  for (const auto& [name, config] : all_configs()) {
    INFO(name);
    const Layer layer(config);
    const Tensor whole = layer.attention(x, {.causal = true});
    check_near(layer.attention(x, x, {.causal = true}).value(), whole.value(), kClose);
    const Tensor last = layer.attention(slice(x, 1, 4, 7), x, {.causal = true});
    check_near(last.value(), steps(whole, 4, 7), kClose);
  }
}

TEST_CASE("multi-query attention equals multi-head attention with copied keys and values, and sums their gradients") {
  Layer one({.key_heads = 1}), all({});
  const Array& shared = one.attention.in_proj_weight.value();  // q 8 rows, k 2, v 2
  Array copied = empty_array({24, 8});
  const auto source = [](std::size_t row) { return row < 8 ? row : row < 16 ? 8 + row % 2 : 10 + row % 2; };
  for (std::size_t r = 0; r < 24; ++r)
    for (std::size_t c = 0; c < 8; ++c) copied(r, c) = shared(source(r), c);
  all.attention.in_proj_weight.set_value(copied);
  all.attention.out_proj.weight.set_value(one.attention.out_proj.weight.value());
  Tape tape;
  const Tensor x(sample({2, 5, 8}, 1)), up(sample({2, 5, 8}, 2));
  const Tensor y_one = one.attention(x, {.causal = true}), y_all = all.attention(x, {.causal = true});
  check_near(y_one.value(), y_all.value(), kClose);
  tape.backward(sum((y_one + y_all) * up));
  Array added = Tensor::zeros({12, 8}).value();
  for (std::size_t r = 0; r < 24; ++r)
    for (std::size_t c = 0; c < 8; ++c) added(source(r), c) += all.attention.in_proj_weight.grad()(r, c);
  check_near(one.attention.in_proj_weight.grad(), added, kClose);
}

TEST_CASE("grouped query heads read the key head of their group") {
  const Tensor q(sample({1, 4, 3, 2}, 1)), k(sample({1, 2, 3, 2}, 2)), v(sample({1, 2, 3, 2}, 3));
  for (const auto& [name, config] : all_configs()) {
    INFO(name);
    const AttentionWeights operands = {Tensor(sample({4, 2}, 4)), Tensor(sample({5, 2}, 5))};
    const auto mixed = [&](const AttentionConfig& f, const Tensor& keys, const Tensor& values) {
      return attend(f, q, keys, values, {.causal = true}, operands);
    };
    const auto twice = [](const Tensor& x) {
      return concat({slice(x, 1, 0, 1), slice(x, 1, 0, 1), slice(x, 1, 1, 2), slice(x, 1, 1, 2)}, 1);
    };
    check_near(mixed(config, k, v).value(), mixed(config, twice(k), twice(v)).value(), kClose);
  }
}

TEST_CASE("positive random features with a given projection agree with known values and do not overflow") {
  const auto column = [](std::initializer_list<double> x) { return Tensor(array({1, 1, std::ssize(x), 1}, x)); };
  const AttentionConfig prf = {.kind = AttentionKind::prf, .scale = 1};
  const auto attended = [&](std::initializer_list<double> w, double q, std::initializer_list<double> k) {
    return static_cast<double>(
        attend(prf, column({q}), column(k), column({10, 20}), {.scale = 1}, {.features = Tensor(array({2, 1}, w))})
            .item());
  };
  check_near(attended({1, -1}, 1, {3, -1}), 16.6659212775, {tolerance(1e-9, 1e-5), 0});
  check_near(attended({30, -30}, 0.1, {4, 3.9}), 10.6881732126, {tolerance(1e-9, 1e-4), 0});
}

TEST_CASE("random features converge to softmax attention as their number grows") {
  const Tensor q(sample({1, 1, 12, 4}, 1, -0.7, 0.7)), k(sample({1, 1, 12, 4}, 2, -0.7, 0.7)),
      v(sample({1, 1, 12, 3}, 3));
  const Tensor exact = scaled_dot_product_attention(q, k, v, {.causal = true});
  for (const AttentionKind kind : {AttentionKind::rff, AttentionKind::prf}) {
    const auto error = [&](index_t m, bool orthogonal) {  // root mean square over draws
      double squares = 0;
      for (std::uint64_t draw = 0; draw < 40; ++draw) {
        const Tensor features(random_features(m, 4, orthogonal, {1, 2, draw}));
        const Tensor got = attend({.kind = kind}, q, k, v, {.causal = true}, {.features = features});
        squares += std::pow(static_cast<double>(norm(got - exact).item()), 2);
      }
      return std::sqrt(squares / 40);
    };
    const double few = error(16, false), many = error(1024, false);
    const double exponent = std::log(many / few) / std::log(64.0);
    INFO("kind ", static_cast<int>(kind), ": errors ", few, " and ", many, ", exponent ", exponent);
    CHECK(std::abs(exponent + 0.5) < 0.1);
    CHECK(error(16, true) < few);  // orthogonal vectors have a lower variance
  }
}

TEST_CASE("random features: normal vectors, orthogonal in groups, saved as a buffer, redrawn on demand") {
  const Array w = random_features(6, 4, true, {1, 2, 3});
  const Tensor products = matmul(Tensor(w), Tensor(w), {.transpose_b = true});
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (i / 4 == j / 4) CHECK(std::abs(products.value()(i, j)) < tolerance(1e-12, 1e-5));
  double squares = 0;
  for (std::uint64_t draw = 0; draw < 500; ++draw)
    squares += std::pow(norm(Tensor(random_features(4, 4, true, {1, 2, draw}))).item(), 2);
  // 16 squares of variance 2 per draw: the standard deviation of the mean is 0.016
  CHECK(std::abs(squares / (500 * 16) - 1) < 0.08);
  check_equal(w, random_features(6, 4, true, {1, 2, 3}));
  check_throws<ValueError>([] { random_features(0, 4, true, {}); }, "expected sizes of at least 1, got");

  Layer layer({.kind = AttentionKind::prf});
  const Array first = layer.store.buffer("features").value();
  CHECK(first.shape() == Shape{4, 2});
  layer.attention.redraw_features();
  CHECK(first != layer.store.buffer("features").value());
  CHECK(*layer.store.mask_counters().at("features") == 2);
}

TEST_CASE("stacked argmax attention: the receptive field reaches its bound and does not exceed it") {
  // One head, identity projections and residual connections.
  const index_t n = 27, width = 2;
  Array x = empty_array({1, n, width});
  for (std::size_t t = 0; t < n; ++t) {  // on a circle: every position prefers itself, so the keys are rotated below
    x(0, t, 0) = static_cast<real>(std::cos(6.283185307179586 * static_cast<double>(t) / n));
    x(0, t, 1) = static_cast<real>(std::sin(6.283185307179586 * static_cast<double>(t) / n));
  }
  const auto reach = [&](const std::vector<std::size_t>& shifts) {
    Tape tape;
    const Tensor input = tape.variable(x);
    Tensor values = input;
    for (std::size_t shift : shifts) {  // hard attention to the position `shift` further
      Array keys = empty_array(x.shape());
      for (std::size_t t = 0; t < n; ++t)
        for (std::size_t c = 0; c < width; ++c) keys(0, (t + shift) % n, c) = x(0, t, c);
      const auto heads = [](const Tensor& a) { return split_heads(a, 0, 1, 2); };
      values = values + join_heads(hard_attention(heads(Tensor(x)), heads(Tensor(keys)), heads(values)));
    }
    Array seed = Tensor::zeros({1, n, width}).value();
    seed(0, 0, 0) = 1;
    tape.backward(values, seed);
    index_t count = 0;
    for (std::size_t t = 0; t < n; ++t) count += tape.grad(input)(0, t, 0) != 0;
    return count;
  };
  CHECK(reach({1}) == 2);
  CHECK(reach({1, 2}) == 4);
  CHECK(reach({1, 2, 4}) == 8);  // (k+1)^layers with one head: the bound is reached
  CHECK(reach({1, 2, 4, 8}) == 16);
  CHECK(reach({1, 1, 1}) == 4);                               // overlapping paths reach fewer positions
  CHECK(reach({1, 2, 4, 8, 16}) == static_cast<index_t>(n));  // not more than there are positions
}

TEST_CASE("argmax attention: queries and keys get no gradient, by the tape and by differences") {
  Layer layer({.kind = AttentionKind::argmax});
  Tape tape;
  const Tensor x(sample({2, 5, 8}, 1));
  const auto loss = [&] { return sum(layer.attention(x) * Tensor(sample({2, 5, 8}, 2))); };
  tape.backward(loss());
  const Array grad = layer.attention.in_proj_weight.grad();
  for (std::size_t r = 0; r < 16; ++r)
    for (std::size_t c = 0; c < 8; ++c) CHECK(grad(r, c) == 0);
  for (std::size_t r = 16; r < 24; ++r) CHECK(grad(r, 0) != 0);
  const real before = loss().item();
  Array moved = layer.attention.in_proj_weight.value();
  moved(3, 4) += real(1e-4);
  layer.attention.in_proj_weight.set_value(moved);
  CHECK(loss().item() == before);
}

TEST_CASE("ALiBi: slopes, and scores that fall with distance") {
  check_near(alibi_slopes(8)[0], 0.5, {0, 0});
  check_near(alibi_slopes(8)[7], std::exp2(-8), {0, 0});
  CHECK(alibi_slopes(3) == std::vector<double>{std::exp2(-4), std::exp2(-8), std::exp2(-2)});
  check_throws<ValueError>([] { alibi_slopes(0); }, "at least 1 head");
  const Tensor q(sample({1, 2, 3, 4}, 1)), k(sample({1, 2, 5, 4}, 2)), v(sample({1, 2, 5, 4}, 3));
  Tensor scores = matmul(q, k, {.transpose_b = true}) * real(0.5);
  Array bias = empty_array({2, 3, 5});
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t t = 0; t < 3; ++t)
      for (std::size_t s = 0; s < 5; ++s)
        bias(h, t, s) =
            static_cast<real>(-std::exp2(h == 0 ? -4 : -8) * (static_cast<double>(t + 2) - static_cast<double>(s)));
  const Tensor hidden = masked_fill(scores + Tensor(bias), causal_mask(3, 5), -std::numeric_limits<real>::infinity());
  check_near(attend({.positions = AttentionPositions::alibi}, q, k, v, {.causal = true}).value(),
             matmul(softmax(hidden), v).value(), kClose);
}

TEST_CASE("attention dropout acts on the weights, or on the output of kinds without weights, in training only") {
  for (const auto& [name, config] : all_configs()) {
    INFO(name);
    ParamStore store(4);
    MultiHeadAttention layer(store.root(), {.width = 8, .heads = 4, .attention = config, .dropout = 0.5});
    const Tensor x(sample({2, 6, 8}, 1));
    CHECK(layer(x).value() != layer(x).value());
    store.eval();
    check_equal(layer(x).value(), layer(x).value());
  }
}

TEST_CASE("attention accepts head widths and value widths that differ from C/H") {
  ParamStore store(4);
  MultiHeadAttention layer(store.root(), {.width = 6, .heads = 4, .attention = {.head_width = 5, .value_width = 3}});
  CHECK(layer.in_proj_weight.shape() == Shape{4 * 5 + 4 * 5 + 4 * 3, 6});
  CHECK(layer.out_proj.weight.shape() == Shape{6, 12});
  CHECK(layer(Tensor::ones({2, 3, 6})).shape() == Shape{2, 3, 6});
}

TEST_CASE("attention refuses invalid configurations, and masks that a linear kind cannot apply") {
  ParamStore store;
  const auto refused = [&](const AttentionConfig& config, const char* part) {
    check_throws<ValueError>(
        [&] { MultiHeadAttention layer(store.root(), {.width = 6, .heads = 2, .attention = config}); }, part);
    CHECK(store.entries().empty());
  };
  refused({.key_heads = 3}, "[attention ] expected key heads that divide the 2 heads, got 3");
  refused({.head_width = -1}, "expected widths of a head of at least 1, got -1");
  refused({.scale = -1}, "expected a scale that is positive, or 0 for 1/sqrt(D), got -1");
  refused({.kind = AttentionKind::prf, .features = -1}, "expected at least 1 random feature, got -1");
  refused({.kind = AttentionKind::custom}, "expected a feature_map for the custom kind, got none");
  refused({.positions = AttentionPositions::rotary}, "expected an even width of a head for rotary positions, got 3");
  refused({.kind = AttentionKind::elu, .positions = AttentionPositions::alibi},
          "expected softmax or additive attention for ALiBi, got another kind");
  check_throws<ValueError>([] { attention_config("linear", 4); }, "[attention] expected one of softmax, mqa");
  check_throws<ValueError>([] { attention_config("gqa", 3); }, "expected an even number of heads for gqa, got 3");
  MultiHeadAttention layer(store.root(), {.width = 6, .heads = 2, .attention = {.kind = AttentionKind::elu}});
  check_throws<UnsupportedError>([&] { layer(Tensor::ones({1, 3, 6}), {.mask = causal_mask(3, 3)}); },
                                 "a linear kind computes no T x S weights");
}
