// Masks and lengths that are scalars, and operands without elements.
#include "support.hpp"

#include <xtape/inspect/measure/gradcheck.hpp>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("a mask or lengths that are a scalar are refused, not ignored") {
  const Mask scalar = mask({}, {true});
  const IndexArray lengths = indices({}, {2});
  const Tensor q(sample({1, 1, 2, 2}, 1)), w(sample({1, 2}, 2)), scores(sample({1, 1, 2, 2}, 3)),
      qkv(sample({1, 2, 6}, 4));
  const auto refused = [](const char* title, const std::function<void()>& f, const char* part) {
    INFO(title);
    check_throws<ShapeError>(f, part);
  };
  for (const AttentionOptions& o : {AttentionOptions{.key_padding = scalar}, AttentionOptions{.mask = scalar}}) {
    const char* part = o.mask.dimension() == 0 && o.mask() ? "expected a mask of shape (2,2) or (1,2,2), got ()"
                                                           : "expected key_padding of shape (1,2), got ()";
    refused("sdpa", [&] { scaled_dot_product_attention(q, q, q, o); }, part);
    refused("self_attention", [&] { self_attention(qkv, 1, o); }, part);
    refused("attention_from_scores", [&] { attention_from_scores(scores, q, o); }, part);
    refused("additive_scores", [&] { additive_scores(q, q, w, o); }, part);
    refused("hard_attention", [&] { hard_attention(q, q, q, o); }, part);
  }
  refused(
      "linear_attention", [&] { linear_attention(q, q, q, {}, {.key_padding = scalar}); },
      "expected key_padding of shape (1,2), got ()");
  refused(
      "separable_attention", [&] { separable_attention(q, q, q, {.key_padding = scalar}); },
      "expected key_padding of shape (1,2), got ()");
  for (const std::string& name : attention_config_names()) {
    const AttentionConfig config = attention_config(name, 2);
    const AttentionWeights weights = {Tensor(sample({1, 2}, 2)), Tensor(sample({3, 2}, 2))};
    refused(
        name.c_str(), [&] { attend(config, q, q, q, {.key_padding = scalar}, weights); },
        "expected key_padding of shape (1,2), got ()");
    refused(
        name.c_str(), [&] { attend(config, q, q, q, {.key_padding = mask({2}, {true, false})}, weights); },
        "expected key_padding of shape (1,2), got (2)");
  }
  check_throws<UnsupportedError>([&] { attend({.kind = AttentionKind::elu}, q, q, q, {.mask = scalar}); },
                                 "a linear kind");
  const Tensor x(sample({1, 3, 2}, 5)), ih(sample({2, 2}, 6)), hh(sample({2, 2}, 7));
  refused("rnn", [&] { rnn(x, {}, {ih, hh}, {}, {.lengths = lengths}); }, "expected lengths of shape (1), got ()");
  refused("rotary", [&] { rotary(q, {.offsets = lengths}); }, "expected offsets of shape (1), got ()");
  KVCache cache({.batch = 1, .key_heads = 1, .width = 2, .value_width = 2, .limit = 8});
  refused("kv_cache", [&] { cache.append(q, q, lengths); }, "expected lengths of shape (1), got ()");
  LinearAttentionCache sums(1, 1, 2, 2);
  refused("linear cache", [&] { sums.advance(2, lengths); }, "expected lengths of shape (1), got ()");
}

TEST_CASE("heads of width 0 are split and joined") {
  Tape tape;
  const Tensor x = tape.variable(empty_array({2, 3, 0})), heads = split_heads(x, 0, 4, 0);
  CHECK(heads.shape() == Shape{2, 4, 3, 0});
  CHECK(join_heads(heads).shape() == Shape{2, 3, 0});
  tape.backward(sum(heads));
  CHECK(tape.grad(x).shape() == Shape{2, 3, 0});
  CHECK(split_heads(Tensor::zeros({2, 3, 4}), 4, 1, 0).shape() == Shape{2, 1, 3, 0});
  check_throws<ShapeError>([] { split_heads(Tensor::zeros({2, 3, 4}), 5, 1, 0); }, "[split_heads]");
  check_throws<ShapeError>([] { split_heads(Tensor::zeros({2, 3, 4}), 0, 1, -1); }, "[split_heads]");
}

TEST_CASE("gather, scatter_add and embedding with nothing to index, or nothing to index in") {
  const IndexArray none = indices({0}, {}), flat = indices({0, 3}, {}), two = indices({2}, {0, 0});
  const Tensor x = Tensor::zeros({2, 3}), empty = Tensor::zeros({0});
  CHECK(gather(x, 0, flat).shape() == Shape{0, 3});
  check_throws<ShapeError>([&] { gather(x, 0, none); }, "expected an index within (2,3) except along axis 0, got (0)");
  check_throws<ShapeError>([&] { scatter_add(x, 0, none, empty); }, "expected an index within");
  CHECK(gather(empty, 0, none).numel() == 0);
  check_throws<IndexError>([&] { gather(empty, 0, two); }, "expected no indices, got 0");
  check_throws<IndexError>([&] { scatter_add(empty, 0, two, Tensor::zeros({2})); }, "expected no indices, got 0");
  Tape tape;
  const Tensor w = tape.variable(empty_array({0, 4})), v = tape.variable(empty_array({3, 0}));
  const Tensor rows = embedding(w, none), narrow = embedding(v, two);
  CHECK(rows.shape() == Shape{0, 4});
  CHECK(narrow.shape() == Shape{2, 0});
  tape.backward(sum(rows) + sum(narrow));
  CHECK(tape.grad(w).size() == 0);
  check_throws<IndexError>([&] { embedding(Tensor::zeros({0, 4}), two); }, "[embedding] expected no ids, got 0");
}
