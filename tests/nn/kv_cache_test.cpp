// Incremental decoding: cached steps equal the whole, for any chunk sizes and every kind of attention.
#include <xtape/nn/multi_head_attention.hpp>

#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

#include <limits>
#include <numeric>

using namespace xtape;
using namespace xtape::test;

namespace {

const Limits kSame = {tolerance(1e-12, 1e-6), tolerance(1e-12, 1e-6)};

std::vector<std::pair<std::string, AttentionConfig>> all_forms() {
  std::vector<std::pair<std::string, AttentionConfig>> out;
  for (const std::string& name : attention_config_names()) out.emplace_back(name, attention_config(name, 4));
  for (const AttentionPositions positions : {AttentionPositions::rotary, AttentionPositions::alibi})
    out.push_back({positions == AttentionPositions::rotary ? "rotary" : "alibi", {.positions = positions}});
  out.push_back({"rotary prf", {.kind = AttentionKind::prf, .positions = AttentionPositions::rotary}});
  return out;
}

const std::vector<index_t> kChunkings[] = {{4}, {3, 1}, {1, 1, 1, 1}, {2, 2}, {1, 3}};

}  // namespace

TEST_CASE("a cached head over identity projections gives the known values for all chunk sizes") {
  ParamStore store;
  MultiHeadAttention layer(store.root(), {.width = 2, .heads = 1});
  layer.in_proj_weight.set_value(array({6, 2}, {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}));
  layer.out_proj.weight.set_value(array({2, 2}, {1, 0, 0, 1}));
  const Tensor x(array({1, 4, 2}, {1, 0, 0, 1, 1, 1, 0.5, -1}));
  const Array want =
      array({1, 4, 2}, {1, 0, 0.3302384507, 0.6697615493, 0.7517449217, 0.7517449217, 0.6620386959, -0.243076749});
  const Array whole = layer(x, {.causal = true}).value();
  check_near(whole, want, {0, tolerance(1e-9, 1e-6)});
  for (const auto& chunks : kChunkings) {
    AttentionCache cache = layer.cache(1, 4);
    index_t done = 0;
    for (index_t size : chunks) {
      const Tensor y = layer.step(slice(x, 1, done, done + size), cache);
      check_near(y.value(), steps(whole, done, done + size), {0, tolerance(1e-12, 1e-6)});
      done += size;
      CHECK(cache.lengths().data()[0] == done);
    }
  }
}

TEST_CASE("every attention: cached steps equal the whole for any chunk sizes, while the cache grows") {
  for (const auto& [name, form] : all_forms()) {
    INFO(name);
    ParamStore store(4);
    MultiHeadAttention layer(store.root(), {.width = 8, .heads = 4, .attention = form});
    const Tensor x(sample({2, 150, 8}, 1));
    const Tensor whole = layer(x, {.causal = true});
    for (const std::vector<index_t>& chunks : {std::vector<index_t>{150}, {40, 1, 1, 20, 3, 85}, {1, 70, 15, 64}}) {
      AttentionCache cache = layer.cache(2, 200);
      index_t done = 0;
      for (index_t size : chunks) {
        const Tensor y = layer.step(slice(x, 1, done, done + size), cache);
        check_near(y.value(), steps(whole, done, done + size), kSame);
        done += size;
      }
      if (cache.keys()) CHECK(cache.keys()->capacity() == 200);
    }
  }
}

TEST_CASE("every attention: cached steps accept sequences of different lengths and padding of any content") {
  const std::vector<IndexArray> counts = {IndexArray{5, 2, 0}, IndexArray{1, 1, 1}, IndexArray{20, 3, 17},
                                          IndexArray{0, 1, 1}};
  for (const auto& [name, form] : all_forms()) {
    INFO(name);
    ParamStore store(4);
    MultiHeadAttention layer(store.root(), {.width = 8, .heads = 4, .attention = form});
    const Array x = sample({3, 30, 8}, 1);
    const Tensor whole = layer(Tensor(x), {.causal = true});
    AttentionCache cache = layer.cache(3, 30);
    std::vector<index_t> done(3, 0);
    for (const IndexArray& lengths : counts) {
      const index_t longest = *std::max_element(lengths.begin(), lengths.end());
      Array chunk = full_array({3, longest, 8}, std::numeric_limits<real>::quiet_NaN());
      for (std::size_t b = 0; b < 3; ++b)
        for (index_t t = 0; t < lengths.data()[b]; ++t)
          for (std::size_t c = 0; c < 8; ++c) chunk(b, t, c) = x(b, done[b] + t, c);
      const Array y = layer.step(Tensor(chunk), cache, lengths).value();
      for (std::size_t b = 0; b < 3; ++b) {
        for (index_t t = 0; t < lengths.data()[b]; ++t)
          for (std::size_t c = 0; c < 8; ++c) check_near(y(b, t, c), whole.value()(b, done[b] + t, c), kSame);
        done[b] += static_cast<std::size_t>(lengths.data()[b]);
        CHECK(cache.lengths().data()[b] == done[b]);
      }
    }
  }
}

TEST_CASE("every attention: the rows of a cache can be reordered and copied") {
  for (const auto& [name, form] : all_forms()) {
    INFO(name);
    ParamStore store(4);
    MultiHeadAttention layer(store.root(), {.width = 8, .heads = 4, .attention = form});
    const Tensor x(sample({3, 6, 8}, 1));
    AttentionCache cache = layer.cache(3, 10);
    layer.step(slice(x, 1, 0, 5), cache);
    cache.select(IndexArray{2, 2, 0});
    const Tensor last = slice(x, 1, 5, 6);
    const auto sequence = [&](index_t b) { return slice(x, 0, b, b + 1); };
    const Tensor history = slice(concat({sequence(2), sequence(2), sequence(0)}, 0), 1, 0, 5);
    const Tensor want = layer(concat({history, last}, 1), {.causal = true});
    check_near(layer.step(last, cache).value(), steps(want, 5, 6), kSame);
    check_throws<IndexError>([&] { cache.select(IndexArray{0, 3, 0}); }, "expected rows in 0..2, got 3");
    check_throws<ShapeError>([&] { cache.select(IndexArray{0, 1}); }, "expected rows of shape (3), got ");
  }
}

TEST_CASE("every attention: cross-attention from a memory cache equals the uncached call") {
  for (const auto& [name, form] : all_forms()) {
    if (form.positions != AttentionPositions::none) continue;  // cross-attention has no positions
    INFO(name);
    ParamStore store(4);
    MultiHeadAttention layer(store.root(), {.width = 8, .heads = 4, .attention = form});
    const Tensor x(sample({2, 3, 8}, 1)), memory(sample({2, 5, 8}, 2));
    const Mask padding = padding_mask({5, 2}, 5);
    const Tensor whole = layer(x, memory, {.key_padding = padding});
    const CrossAttentionCache cache = layer.memory_cache(memory, padding);
    for (index_t t = 0; t < 3; ++t)
      check_near(layer.step(slice(x, 1, t, t + 1), cache).value(), steps(whole, t, t + 1), kSame);
  }
}

TEST_CASE("caches: bytes and limits, and errors leave them unchanged") {
  ParamStore store(4);
  MultiHeadAttention layer(store.root() / "a", {.width = 8, .heads = 4, .attention = {.key_heads = 1}});
  MultiHeadAttention linear(store.root() / "b", {.width = 8, .heads = 4, .attention = {.kind = AttentionKind::elu}});
  AttentionCache cache = layer.cache(2, 100), sums = linear.cache(2, 100);
  const index_t row = 2 * cached_row_width(2) * static_cast<index_t>(sizeof(real));  // of keys and values
  CHECK(cache.bytes() == 2 * 64 * row);
  const index_t constant = sums.bytes();
  const Tensor x(sample({2, 65, 8}, 1));
  layer.step(x, cache);
  linear.step(x, sums);
  CHECK(cache.bytes() == 2 * 100 * row);  // doubled, up to the limit
  CHECK(sums.bytes() == constant);
  check_throws<ValueError>([&] { layer.step(slice(x, 1, 0, 36), cache); }, "expected at most 100 positions, got 101");
  check_throws<IndexError>([&] { layer.step(slice(x, 1, 0, 2), cache, IndexArray{1, 3}); },
                           "expected lengths in 0..2, got 3");
  check_throws<ShapeError>([&] { layer.step(slice(x, 1, 0, 2), cache, IndexArray{1}); }, "expected lengths of shape (");
  check_throws<ShapeError>([&] { layer.step(slice(x, 0, 0, 1), cache); }, "[kv_cache]");
  CHECK(cache.lengths() == IndexArray{65, 65});
  check_throws<ValueError>([&] { layer.cache(0, 10); }, "[kv_cache] expected sizes of at least 1, got");
  check_throws<ValueError>([&] { linear.cache(0, 10); }, "[kv_cache] expected sizes of at least 1, got");
  Tape tape;
  check_throws<UnsupportedError>([&] { layer.step(slice(x, 1, 0, 2), cache); }, "a cached step has no gradient");
}
