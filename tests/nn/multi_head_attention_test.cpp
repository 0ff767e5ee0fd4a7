#include <xtape/nn/multi_head_attention.hpp>

#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

/// Sets all projections to the identity, so that q = k = v = x and the output is the attention output.
void set_identity(MultiHeadAttention& layer, index_t width) {
  Array in = Tensor::zeros({3 * width, width}).value(), out = Tensor::zeros({width, width}).value();
  for (index_t i = 0; i < width; ++i) in(i, i) = in(width + i, i) = in(2 * width + i, i) = out(i, i) = 1;
  layer.in_proj_weight.set_value(in);
  layer.out_proj.weight.set_value(out);
}

Array rows(const Array& x, std::size_t begin, std::size_t end) {
  return slice(Tensor(x), 1, static_cast<index_t>(begin), static_cast<index_t>(end)).value();
}

}  // namespace

TEST_CASE("MultiHeadAttention: one causal head over identity projections") {
  ParamStore store;
  MultiHeadAttention layer(store.root(), {.width = 2, .heads = 1});
  set_identity(layer, 2);
  const Tensor x(array({1, 4, 2}, {1, 0, 0, 1, 1, 1, 0.5, -1}));
  check_near(
      layer(x, {.causal = true}).value(),
      array({1, 4, 2}, {1, 0, 0.3302384507, 0.6697615493, 0.7517449217, 0.7517449217, 0.6620386959, -0.243076749}),
      {tolerance(1e-9, 1e-5), tolerance(1e-10, 1e-6)});
}

TEST_CASE("MultiHeadAttention: each head attends over its own slice of the width") {
  ParamStore store;
  MultiHeadAttention two(store.root() / "two", {.width = 4, .heads = 2}),
      one(store.root() / "one", {.width = 2, .heads = 1});
  set_identity(two, 4);
  set_identity(one, 2);
  const Tensor x(sample({3, 5, 4}, 12));
  const Tensor got = two(x), left = one(slice(x, 2, 0, 2)), right = one(slice(x, 2, 2, 4));
  check_near(got.value(), concat({left, right}, 2).value(), {tolerance(1e-12, 1e-5), tolerance(1e-13, 1e-6)});
}

TEST_CASE("MultiHeadAttention: parameters have PyTorch's names, shapes and initial values") {
  ParamStore store(3);
  MultiHeadAttention layer(store.root() / "attn", {.width = 6, .heads = 2});
  std::vector<std::string> names;
  for (const Parameter& p : store.parameters()) names.push_back(p.name() + shape_text(p.shape()));
  CHECK(names == std::vector<std::string>{"attn.in_proj_weight(18,6)", "attn.in_proj_bias(18)",
                                          "attn.out_proj.weight(6,6)", "attn.out_proj.bias(6)"});
  check_equal(layer.in_proj_bias.value(), Tensor::zeros({18}).value());
  check_equal(layer.out_proj.bias.value(), Tensor::zeros({6}).value());
  double largest = 0;
  for (real v : layer.in_proj_weight.value()) largest = std::max(largest, std::abs(static_cast<double>(v)));
  CHECK(largest <= std::sqrt(6.0 / 24));  // Xavier bound with fans 6 and 18
  CHECK(largest > 0.9 * std::sqrt(6.0 / 24));

  MultiHeadAttention plain(store.root() / "plain", {.width = 6, .heads = 2, .bias = false});
  CHECK_FALSE(store.contains("plain.in_proj_bias"));
  CHECK_FALSE(store.contains("plain.out_proj.bias"));
  CHECK(plain(Tensor::ones({1, 2, 6})).shape() == Shape{1, 2, 6});
}

TEST_CASE("MultiHeadAttention: masked positions change no bit") {
  ParamStore store(4);
  MultiHeadAttention layer(store.root(), {.width = 6, .heads = 3});
  const Array x = sample({2, 5, 6}, 1);
  Array changed = x;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t c = 0; c < 6; ++c) changed(b, 3, c) = changed(b, 4, c) = 100;
  const AttentionMasks causal = {.causal = true}, padded = {.key_padding = padding_mask({3, 3}, 5)};
  check_equal(rows(layer(Tensor(changed), causal).value(), 0, 3), rows(layer(Tensor(x), causal).value(), 0, 3));
  check_equal(rows(layer(Tensor(changed), padded).value(), 0, 3), rows(layer(Tensor(x), padded).value(), 0, 3));
  CHECK(rows(layer(Tensor(changed)).value(), 0, 3) != rows(layer(Tensor(x)).value(), 0, 3));
}

TEST_CASE("MultiHeadAttention: causal equals a mask of the elements above the diagonal") {
  ParamStore store(4);
  MultiHeadAttention layer(store.root(), {.width = 6, .heads = 2});
  const Tensor x(sample({2, 5, 6}, 1));
  check_near(layer(x, {.mask = causal_mask(5, 5)}).value(), layer(x, {.causal = true}).value(),
             {tolerance(1e-12, 1e-5), tolerance(1e-13, 1e-6)});
}

TEST_CASE("MultiHeadAttention: without masks and positions it is permutation-equivariant") {
  ParamStore store(4);
  MultiHeadAttention layer(store.root(), {.width = 6, .heads = 2});
  const Array x = sample({1, 4, 6}, 1);
  const std::size_t order[] = {2, 0, 3, 1};
  const auto permuted = [&](const Array& a) {
    Array out = empty_array(a.shape());
    for (std::size_t t = 0; t < 4; ++t)
      for (std::size_t c = 0; c < 6; ++c) out(0, t, c) = a(0, order[t], c);
    return out;
  };
  check_near(layer(Tensor(permuted(x))).value(), permuted(layer(Tensor(x)).value()),
             {tolerance(1e-12, 1e-5), tolerance(1e-13, 1e-6)});
}

TEST_CASE("MultiHeadAttention: a single position attends to itself only") {
  ParamStore store(4);
  MultiHeadAttention layer(store.root(), {.width = 4, .heads = 2});
  set_identity(layer, 4);
  const Tensor x(sample({3, 1, 4}, 1));
  check_near(layer(x, {.causal = true}).value(), x.value(), {tolerance(1e-14, 1e-6), 0});
}

TEST_CASE("MultiHeadAttention: dropout of the weights in training only, with a new mask each call") {
  ParamStore store(4);
  MultiHeadAttention layer(store.root() / "attn", {.width = 4, .heads = 2, .dropout = 0.5});
  const Tensor x(sample({2, 6, 4}, 1));
  CHECK(layer(x).value() != layer(x).value());
  CHECK(*store.mask_counters().at("attn") == 2);
  store.eval();
  check_equal(layer(x).value(), layer(x).value());
  CHECK(*store.mask_counters().at("attn") == 2);
}

TEST_CASE("MultiHeadAttention refuses invalid options and inputs") {
  ParamStore store;
  const Scope a = store.root() / "a";
  check_throws<ValueError>([&] { MultiHeadAttention layer(a, {.width = 6, .heads = 4}); },
                           "[attention a] expected heads that divide the width 6, got 4");
  check_throws<ValueError>([&] { MultiHeadAttention layer(a, {.width = 6, .heads = 0}); }, "the width 6, got 0");
  check_throws<ValueError>([&] { MultiHeadAttention layer(a, {.width = 0, .heads = 1}); }, "the width 0");
  check_throws<ValueError>([&] { MultiHeadAttention layer(a, {.width = 6, .heads = 2, .dropout = 2}); }, "probability");
  CHECK(store.entries().empty());
  MultiHeadAttention layer(a, {.width = 6, .heads = 2});
  check_throws<ShapeError>([&] { layer(Tensor::ones({2, 5, 7})); }, "[linear]");
  check_throws<ShapeError>([&] { layer(Tensor::ones({5, 6})); }, "(5,18)");
  check_throws<ShapeError>([&] { layer(Tensor::ones({2, 5, 6}), {.key_padding = empty_array<Mask>({2, 4})}); },
                           "(2,4)");
  check_throws<ShapeError>([&] { layer(Tensor::ones({2, 5, 6}), {.mask = empty_array<Mask>({4, 5})}); }, "(4,5)");
}
