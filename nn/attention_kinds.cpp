#include <xtape/core/error.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/concat.hpp>
#include <xtape/core/ops/dropout.hpp>
#include <xtape/core/ops/mask.hpp>
#include <xtape/core/ops/matmul.hpp>
#include <xtape/core/ops/reduce.hpp>
#include <xtape/core/ops/score_attention.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/core/ops/softmax.hpp>
#include <xtape/core/ops/unary.hpp>
#include <xtape/nn/attention_kinds.hpp>
#include <xtape/nn/positions.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

real scale_of(const AttentionConfig& config, const Tensor& q) {
  return static_cast<real>(config.scale > 0 ? config.scale : 1 / std::sqrt(static_cast<double>(q.size(3))));
}

/// Scores scale q k^T [B, H, T, S]. The H/H' query heads of one key head become rows of one product.
Tensor dot_scores(const Tensor& q, const Tensor& k, real scale) {
  const index_t batches = q.size(0), key_heads = k.size(1), group = q.size(1) / key_heads;
  const Tensor grouped = reshape(q * scale, {batches, key_heads, group * q.size(2), q.size(3)});
  return reshape(matmul(grouped, k, {.transpose_b = true}), {batches, q.size(1), q.size(2), k.size(2)});
}

/// exp(w.x - |x|^2/2) is a positive random feature of x. Returns the exponents [..., m]. The caller multiplies x by
/// sqrt(scale), so that the products of features estimate exp(scale q.k) (Choromanski et al. 2021, lemma 1).
Tensor positive_exponents(const Tensor& x, const Tensor& features) {
  return matmul(x, features, {.transpose_b = true}) - sum(x * x, {-1}, true) * real(0.5);
}

/// Features of queries and keys, both shifted by their largest exponent against overflow. The shift of a query cancels
/// in the normalization; the shift of a key is returned as its log weight.
AttentionFeatures positive_features(const Tensor& q, const Tensor& k, const Tensor& features) {
  const Tensor of_q = positive_exponents(q, features), of_k = positive_exponents(k, features);
  const Tensor top_q = max(of_q.detach(), {-1}, true), top_k = max(of_k.detach(), {-1}, true);
  return {exp(of_q - top_q), exp(of_k - top_k), squeeze(top_k, {-1})};
}

/// Uses exp(q.k) = exp(|q|^2/2) exp(|k|^2/2) exp(-|q-k|^2/2). The last factor is estimated by sines and cosines of w.x
/// (Rahimi and Recht 2007). The log of the second, |k|^2/2, is returned as the log weight of the key. The first factor
/// cancels in the normalization.
AttentionFeatures fourier_features(const Tensor& q, const Tensor& k, const Tensor& features) {
  const auto waves = [&](const Tensor& x) {
    const Tensor angles = matmul(x, features, {.transpose_b = true});
    return concat({sin(angles), cos(angles)}, -1);
  };
  return {waves(q), waves(k), sum(k * k, {-1}) * real(0.5)};
}

/// A padding mask [B, S] as a mask [B, 1, S, 1] of the rows of k.
Mask over_rows(const Mask& padding) {
  Mask out = padding;
  out.reshape(Shape{padding.shape()[0], 1, padding.shape()[1], 1});
  return out;
}

Tensor linear_mix(const AttentionConfig& config, const Tensor& q, const Tensor& k, const Tensor& v,
                  const AttentionOptions& o, const AttentionWeights& operands) {
  if (o.mask.dimension() > 0)
    throw UnsupportedError("attention",
                           "a linear kind computes no T x S weights that `mask` could apply to; use causal and "
                           "key_padding");
  const AttentionFeatures x = attention_features(config, q, k, o.key_padding, operands);
  const LinearAttentionOptions masks = {.causal = o.causal, .key_padding = o.key_padding};
  return config.kind == AttentionKind::separable ? separable_attention(x.q, x.k, v, masks)
                                                 : linear_attention(x.q, x.k, v, x.log_key_weight, masks);
}

}  // namespace

AttentionFeatures attention_features(const AttentionConfig& config, const Tensor& q, const Tensor& keys,
                                     const Mask& key_padding, const AttentionWeights& operands) {
  // A NaN feature of a masked key would turn its zero gradient into NaN.
  const Tensor k = key_padding.dimension() > 0 ? masked_fill(keys, over_rows(key_padding), 0) : keys;
  const real root = std::sqrt(scale_of(config, q));  // applied to q and to k, so their product has the scale
  switch (config.kind) {
    case AttentionKind::separable:
      return {softmax(q), k};
    case AttentionKind::quadratic:
      return {quadratic_features(q * root), quadratic_features(k * root)};
    case AttentionKind::elu:
      return {elu(q) + real(1), elu(k) + real(1)};
    case AttentionKind::relu:
      return {relu(q), relu(k)};
    case AttentionKind::rff:
      return fourier_features(q * root, k * root, operands.features);
    case AttentionKind::prf:
      return positive_features(q * root, k * root, operands.features);
    case AttentionKind::custom:
      return {config.feature_map(q), config.feature_map(k)};
    case AttentionKind::softmax:
    case AttentionKind::additive:
    case AttentionKind::argmax:
      break;
  }
  throw ValueError("attention", "this kind is not linear");
}

Array alibi_bias(index_t heads, index_t queries, index_t keys) {
  Array out(Shape{static_cast<std::size_t>(heads), static_cast<std::size_t>(queries), static_cast<std::size_t>(keys)});
  real* to = out.data();
  for (double alibi_slope : alibi_slopes(heads))
    for (index_t t = 0; t < queries; ++t)
      for (index_t s = 0; s < keys; ++s)
        *to++ = static_cast<real>(-alibi_slope * static_cast<double>(t + keys - queries - s));
  return out;
}

Tensor attend(const AttentionConfig& config, const Tensor& q, const Tensor& k, const Tensor& v,
              const AttentionOptions& options, const AttentionWeights& operands) {
  const bool alibi = config.positions == AttentionPositions::alibi;
  if (config.kind == AttentionKind::softmax && !alibi) return scaled_dot_product_attention(q, k, v, options);
  if (config.kind == AttentionKind::softmax || config.kind == AttentionKind::additive) {
    Tensor scores = config.kind == AttentionKind::softmax ? dot_scores(q, k, scale_of(config, q))
                                                          : additive_scores(q, k, operands.score_weight, options);
    if (alibi) scores = scores + Tensor(alibi_bias(q.size(1), q.size(2), k.size(2)));
    return attention_from_scores(scores, v, options);
  }
  const Tensor mixed = config.kind == AttentionKind::argmax ? hard_attention(q, k, v, options)
                                                            : linear_mix(config, q, k, v, options, operands);
  return dropout(mixed, options.dropout, options.dropout_key);
}

}  // namespace xtape::inline XTAPE_DTYPE
