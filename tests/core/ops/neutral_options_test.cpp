// Options at their neutral value give the bits of the op without them.
#include "core/evaluate.hpp"

#include <xtape/core/ops/cached_attention.hpp>

#include <bit>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

struct Pair {
  std::string title;
  TensorFunction plain, neutral;
  std::vector<Array> inputs;
  bool any_upstream = true;  ///< also upstream gradients of 0 and infinity
};

/// Equal bits; NaN matches NaN.
void check_bits(const Array& got, const Array& want) {
  REQUIRE(got.shape() == want.shape());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto a = static_cast<double>(got.data()[i]), b = static_cast<double>(want.data()[i]);
    const bool same =
        std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
    CHECK_MESSAGE(same, "element ", i, ": got ", a, ", want ", b);
  }
}

void check(const Pair& pair) {
  const std::vector<Tensor> constants(pair.inputs.begin(), pair.inputs.end());
  const Shape shape = pair.plain(constants).shape();
  std::vector<Array> seeds = {sample(shape, 9)};
  if (pair.any_upstream)
    for (double value : {0.0, kInf, -1e30}) seeds.push_back(full_array(shape, static_cast<real>(value)));
  for (const Array& seed : seeds) {
    INFO(pair.title, ", upstream gradient from ", seed.size() ? static_cast<double>(seed.data()[0]) : 0);
    const Evaluated plain = evaluate(pair.plain, pair.inputs, seed),
                    neutral = evaluate(pair.neutral, pair.inputs, seed);
    check_bits(neutral.value, plain.value);
    for (std::size_t i = 0; i < plain.grads.size(); ++i) check_bits(neutral.grads[i], plain.grads[i]);
  }
}

const Array& logits() {
  static const Array x = row({-kInf, -1e30, -1e4, -20, -1, -0.25, 0, 0.3, 1, 17, 1e4, 1e30, kInf});
  return x;
}

Array constant(double value) { return full_array(logits().shape(), static_cast<real>(value)); }

using BceOptions = BinaryCrossEntropyOptions;

std::vector<Pair> losses() {
  std::vector<Pair> out;
  const auto bce = [](const BceOptions& o) -> TensorFunction {
    return [o](Inputs a) { return binary_cross_entropy_with_logits(a[0], a[1], o); };
  };
  for (double target : {0.0, 0.4, 1.0}) {
    for (Reduction r : {Reduction::none, Reduction::mean, Reduction::sum, Reduction::batchmean}) {
      for (const Array& one : {constant(1), array({1}, {1}), array({}, {1})}) {
        const std::string title = "binary cross-entropy of targets " + std::to_string(target) + ", ";
        const std::vector<Array> inputs = {logits(), constant(target)};
        const TensorFunction plain = bce({.reduction = r});
        out.push_back({title + "weight 1", plain, bce({.weight = Tensor(one), .reduction = r}), inputs});
        out.push_back({title + "pos_weight 1", plain, bce({.pos_weight = Tensor(one), .reduction = r}), inputs});
        out.push_back(
            {title + "both 1", plain, bce({.weight = Tensor(one), .pos_weight = Tensor(one), .reduction = r}), inputs});
      }
    }
  }
  const Array x = array({3, 4}, {0, 1e4, -kInf, 2, kInf, 1, 1, 1, -1, -2, -3, 1e30}), t = sample({3, 4}, 5, 0, 1);
  const IndexArray classes = indices({3}, {1, 2, 0});
  const auto hard = [=](CrossEntropyOptions o) -> TensorFunction {
    return [=](Inputs a) { return cross_entropy(a[0], classes, o); };
  };
  const auto soft = [](CrossEntropyOptions o) -> TensorFunction {
    return [=](Inputs a) { return cross_entropy(a[0], a[1], o); };
  };
  out.push_back({"cross_entropy, label smoothing 0", hard({}), hard({.label_smoothing = 0}), {x}});
  out.push_back({"cross_entropy, an ignored value that does not occur", hard({}), hard({.ignore = -7}), {x}});
  out.push_back({"cross_entropy of distributions, label smoothing 0", soft({}), soft({.label_smoothing = 0}), {x, t}});
  return out;
}

using Attend = std::function<Tensor(Inputs, const AttentionOptions&)>;

std::vector<Pair> attention_pairs() {
  std::vector<Pair> out;
  const Array q = sample({2, 2, 3, 4}, 1), k = sample({2, 1, 5, 4}, 2), v = sample({2, 1, 5, 3}, 3);
  const Array scores = sample({2, 2, 3, 5}, 4), qkv = sample({2, 5, 12}, 5), w = sample({2, 4}, 6);
  const auto add = [&](const std::string& name, const std::vector<Array>& inputs, index_t queries, index_t keys,
                       const Attend& f) {
    const auto with = [&](const AttentionOptions& o) -> TensorFunction { return [=](Inputs a) { return f(a, o); }; };
    const Mask none = padding_mask({keys, keys}, keys);
    Mask flat = causal_mask(queries, keys);
    flat.fill(false);
    out.push_back({name + ", a key_padding that hides nothing", with({}), with({.key_padding = none}), inputs, false});
    out.push_back({name + ", a mask that hides nothing", with({}), with({.mask = flat}), inputs, false});
    out.push_back({name + ", causal, masks that hide nothing", with({.causal = true}),
                   with({.causal = true, .key_padding = none, .mask = flat}), inputs, false});
    out.push_back({name + ", dropout 0", with({}), with({.dropout = 0, .dropout_key = {1, 2, 3}}), inputs, false});
    out.push_back({name + ", the usual scale", with({}), with({.scale = 0.5}), inputs, false});
  };
  add("scaled_dot_product_attention", {q, k, v}, 3, 5,
      [](Inputs a, const AttentionOptions& o) { return scaled_dot_product_attention(a[0], a[1], a[2], o); });
  add("self_attention", {sample({2, 5, 24}, 5)}, 5, 5,
      [](Inputs a, const AttentionOptions& o) { return self_attention(a[0], 2, o); });
  add("attention_from_scores", {scores, v}, 3, 5,
      [](Inputs a, const AttentionOptions& o) { return attention_from_scores(a[0], a[1], o); });
  add("additive_scores", {q, k, w}, 3, 5,
      [](Inputs a, const AttentionOptions& o) { return additive_scores(a[0], a[1], a[2], o); });
  add("hard_attention", {q, k, v}, 3, 5,
      [](Inputs a, const AttentionOptions& o) { return hard_attention(a[0], a[1], a[2], o); });
  const Array positive_q = sample({2, 2, 3, 4}, 1, 0.1, 1), positive_k = sample({2, 1, 5, 4}, 2, 0.1, 1);
  const Mask none = padding_mask({5, 5}, 5);
  for (const bool causal : {false, true}) {
    const TensorFunction plain = [=](Inputs a) { return linear_attention(a[0], a[1], a[2], {}, {.causal = causal}); };
    const std::vector<Array> inputs = {positive_q, positive_k, v};
    out.push_back(
        {"linear_attention, a key_padding that hides nothing", plain,
         [=](Inputs a) { return linear_attention(a[0], a[1], a[2], {}, {.causal = causal, .key_padding = none}); },
         inputs, false});
    out.push_back(
        {"linear_attention, log key weights of 0", plain,
         [=](Inputs a) { return linear_attention(a[0], a[1], a[2], Tensor::zeros({2, 1, 5}), {.causal = causal}); },
         inputs, false});
    out.push_back(
        {"separable_attention, a key_padding that hides nothing",
         [=](Inputs a) { return separable_attention(a[0], a[1], a[2], {.causal = causal}); },
         [=](Inputs a) { return separable_attention(a[0], a[1], a[2], {.causal = causal, .key_padding = none}); },
         inputs, false});
  }
  out.push_back({"self_attention and scaled_dot_product_attention",
                 [](Inputs a) {
                   return join_heads(scaled_dot_product_attention(
                       split_heads(a[0], 0, 2, 2), split_heads(a[0], 4, 2, 2), split_heads(a[0], 8, 2, 2)));
                 },
                 [](Inputs a) { return self_attention(a[0], 2); },
                 {qkv},
                 false});
  return out;
}

std::vector<Pair> others() {
  std::vector<Pair> out;
  out.push_back({"dropout 0",
                 [](Inputs a) { return a[0] * real(1); },
                 [](Inputs a) { return dropout(a[0], 0, {1, 2, 3}) * real(1); },
                 {logits()}});
  const Array x = sample({3, 4, 2}, 1), h = sample({3, 2}, 2), c = sample({3, 2}, 3);
  const auto weights = [](index_t gates) {
    return std::vector<Array>{sample({gates * 2, 2}, 4), sample({gates * 2, 2}, 5)};
  };
  const SequenceOptions all = {.lengths = {4, 4, 4}};
  const auto recurrent = [&](const char* name, index_t gates, auto run) {
    std::vector<Array> inputs = {x, h, c};
    for (const Array& w : weights(gates)) inputs.push_back(w);
    out.push_back({std::string(name) + ", the lengths of whole sequences",
                   [=](Inputs a) { return run(a, SequenceOptions{}); }, [=](Inputs a) { return run(a, all); }, inputs,
                   false});
    inputs[1] = inputs[2] = full_array(h.shape(), real(0));
  };
  recurrent("rnn", 1, [](Inputs a, const SequenceOptions& o) { return rnn(a[0], a[1], {a[3], a[4]}, {}, o).y; });
  recurrent("lstm", 4, [](Inputs a, const SequenceOptions& o) { return lstm(a[0], a[1], a[2], {a[3], a[4]}, o).y; });
  recurrent("gru", 3,
            [](Inputs a, const SequenceOptions& o) { return gru(a[0], a[1], {a[3], a[4]}, GruReset::after, o).y; });
  out.push_back({"rnn, states and biases of zero",
                 [](Inputs a) { return rnn(a[0], {}, {a[1], a[2]}).y; },
                 [](Inputs a) {
                   return rnn(a[0], Tensor::zeros({3, 2}), {a[1], a[2], Tensor::zeros({2}), Tensor::zeros({2})}).y;
                 },
                 {x, sample({2, 2}, 4), sample({2, 2}, 5)},
                 false});
  out.push_back({"embedding, a padding row that does not occur",
                 [](Inputs a) { return embedding(a[0], indices({3}, {0, 2, 0})); },
                 [](Inputs a) { return embedding(a[0], indices({3}, {0, 2, 0}), 1); },
                 {sample({3, 2}, 1)}});
  return out;
}

}  // namespace

TEST_CASE("cached_attention of chunks without padding gives the bits of chunks whose length is given") {
  const index_t padded = cached_row_width(4);
  const Array keys = sample({2, 1, 30, padded}, 1), values = sample({2, 1, 30, padded}, 2);
  const IndexArray lengths = {25, 28};
  const CachedKeys cached = {keys, values, lengths, 4, 4};
  for (const index_t time : {1, 3, 20}) {
    const Tensor q(sample({2, 2, time, 4}, 3));
    const Array plain = cached_attention(q, cached, {}, 0).value();
    check_bits(cached_attention(q, cached, {time, time}, 0).value(), plain);
    check_bits(cached_attention(q, cached, {}, 0.5).value(), plain);
  }
}

TEST_CASE("an option at its neutral value gives the bits of the op without it") {
  for (const auto& family : {losses(), attention_pairs(), others()})
    for (const Pair& pair : family) check(pair);
}
