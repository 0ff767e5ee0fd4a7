#include <xtape/nn/multi_head_attention.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

AttentionCost cost(const AttentionConfig& config, const AttentionSizes& sizes) {
  ParamStore store;
  return MultiHeadAttention(store.root(), {.width = 64, .heads = 8, .attention = config}).cost(sizes);
}

}  // namespace

TEST_CASE("attention cost: projections and attention of self-attention are equal at n = 2 d") {
  const AttentionCost at = cost({}, {.batch = 3, .queries = 128, .keys = 128});
  CHECK(at.projections == 3.0 * 128 * 64 * 64 * 4);
  CHECK(at.attention == 3.0 * 128 * 128 * 64 * 2);
  CHECK(at.projections == at.attention);
  CHECK(at.multiply_adds() == at.projections + at.attention);
  CHECK(cost({}, {.queries = 4, .keys = 4, .causal = true}).attention == 10.0 * 64 * 2);
  CHECK(cost({}, {.queries = 2, .keys = 5, .causal = true}).attention == 9.0 * 64 * 2);
  CHECK(at.score_bytes == 0);
  CHECK(cost({.positions = AttentionPositions::alibi}, {.queries = 5, .keys = 7}).score_bytes ==
        8 * 5 * 7.0 * sizeof(real));
}

TEST_CASE("attention cost: bytes read by a decoding step") {
  const AttentionSizes step = {.batch = 4, .keys = 1000, .causal = true};
  const double all = cost({}, step).cache_bytes, one = cost({.key_heads = 1}, step).cache_bytes;
  CHECK(all == 4.0 * 1000 * 2 * 64 * sizeof(real));
  CHECK(one == all / 8);
  CHECK(cost({}, step).parameter_bytes == 4.0 * 64 * 64 * sizeof(real));
  const double sums = cost({.kind = AttentionKind::elu}, step).cache_bytes;
  CHECK(sums == 4.0 * 64 * 9 * sizeof(real));
  CHECK(sums == cost({.kind = AttentionKind::elu}, {.batch = 4, .keys = 9}).cache_bytes);
}

TEST_CASE(
    "attention cost: linear kinds grow with n, the others with n^2, and the quadratic kernel is cheaper from n = d^2/2 "
    "on") {
  const auto growth = [](const AttentionConfig& config) {
    return cost(config, {.queries = 2000, .keys = 2000}).attention /
           cost(config, {.queries = 1000, .keys = 1000}).attention;
  };
  for (const std::string& name : attention_config_names()) {
    const AttentionConfig config = attention_config(name, 8);
    CHECK(growth(config) == (is_linear(config.kind) ? 2 : 4));
  }
  const auto mixing = [](AttentionKind kind, index_t n) {
    ParamStore store;
    return MultiHeadAttention(store.root(), {.width = 32, .heads = 1, .attention = {.kind = kind}})
        .cost({.queries = n, .keys = n})
        .attention;
  };
  const index_t crossing = 33 * 34 / 2;  // the number of quadratic features, (d+1)(d+2)/2
  CHECK(mixing(AttentionKind::quadratic, crossing / 4) > mixing(AttentionKind::softmax, crossing / 4));
  CHECK(mixing(AttentionKind::quadratic, crossing * 4) < mixing(AttentionKind::softmax, crossing * 4));
  check_throws<UnsupportedError>(
      [] { cost({.kind = AttentionKind::custom, .feature_map = [](const Tensor& x) { return x; }}, {}); },
      "is not known");
}
