#include <xtape/core/error.hpp>
#include <xtape/nn/attention_cost.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Number of unmasked pairs of query and key in one head of one sequence.
double seen_pairs(const AttentionSizes& s) {
  if (!s.causal) return static_cast<double>(s.queries) * static_cast<double>(s.keys);
  double pairs = 0;
  for (index_t t = 0; t < s.queries; ++t)
    pairs += static_cast<double>(std::clamp<index_t>(t + 1 + s.keys - s.queries, 0, s.keys));
  return pairs;
}

struct Features {
  double count;    ///< F, the number of features
  double to_make;  ///< multiply-adds to compute the features of one query or key
};

Features features_of(const AttentionConfig& config) {
  const auto d = static_cast<double>(config.head_width), m = static_cast<double>(config.features);
  switch (config.kind) {
    case AttentionKind::quadratic:
      return {(d + 1) * (d + 2) / 2, d * (d + 1) / 2};
    case AttentionKind::rff:
      return {2 * m, m * d + d};
    case AttentionKind::prf:
      return {m, m * d + d};
    case AttentionKind::custom:
      throw UnsupportedError("attention_cost", "the cost of a custom feature map is not known");
    default:
      return {d, 0};
  }
}

}  // namespace

AttentionCost attention_cost(const AttentionConfig& config, index_t width, index_t heads, const AttentionSizes& s) {
  const auto c = static_cast<double>(width), h = static_cast<double>(heads), g = static_cast<double>(config.key_heads);
  const auto d = static_cast<double>(config.head_width), v = static_cast<double>(config.value_width);
  const auto b = static_cast<double>(s.batch), t = static_cast<double>(s.queries), n = static_cast<double>(s.keys);
  const double elements = c * (h * d + g * d + g * v + h * v);
  AttentionCost cost = {};
  cost.projections = b * c * (t * (h * d + h * v) + n * (g * d + g * v));
  cost.parameter_bytes = sizeof(real) * elements;
  if (is_linear(config.kind)) {
    const Features f = features_of(config);
    cost.attention = b * (h * t + g * n) * (f.count * (v + 1) + f.to_make);
    cost.cache_bytes = sizeof(real) * b * g * f.count * (v + 1);
    return cost;
  }
  const double pairs = b * h * seen_pairs(s);
  cost.attention = config.kind == AttentionKind::argmax ? pairs * d : pairs * (d + v);
  cost.cache_bytes = sizeof(real) * b * g * n * (d + v);
  const bool stored = config.kind == AttentionKind::additive || config.positions == AttentionPositions::alibi;
  cost.score_bytes = stored ? sizeof(real) * b * h * t * n : 0;
  return cost;
}

}  // namespace xtape::inline XTAPE_DTYPE
