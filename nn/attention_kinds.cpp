#include <xtape/core/error.hpp>
#include <xtape/core/ops/activation.hpp>
#include <xtape/core/ops/arithmetic.hpp>
#include <xtape/core/ops/extremes.hpp>
#include <xtape/core/ops/matmul.hpp>
#include <xtape/core/ops/reduce.hpp>
#include <xtape/core/ops/score_attention.hpp>
#include <xtape/core/ops/select.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/core/ops/softmax.hpp>
#include <xtape/nn/attention_kinds.hpp>
#include <xtape/nn/positions.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

real scale_of(const AttentionForm& form, const Tensor& q) {
  return static_cast<real>(form.scale > 0 ? form.scale : 1 / std::sqrt(static_cast<double>(q.extent(3))));
}

/// Scores scale q k^T [B, H, T, S] where the heads come in groups.
Tensor dot_scores(const Tensor& q, const Tensor& k, real scale) {
  const index_t batches = q.extent(0), key_heads = k.extent(1), group = q.extent(1) / key_heads;
  const Tensor grouped = reshape(q * scale, {batches, key_heads, group * q.extent(2), q.extent(3)});
  return reshape(matmul(grouped, k, {.transpose_b = true}), {batches, q.extent(1), q.extent(2), k.extent(2)});
}

/// exp(w.x - |x|^2/2) is a positive random feature of x; these are the exponents [..., m], with x times the root of the
/// scale, so that products of features estimate exp(scale q.k) (Choromanski et al. 2021, lemma 1).
Tensor positive_exponents(const Tensor& x, const Tensor& features) {
  return matmul(x, features, {.transpose_b = true}) - sum(x * x, {-1}, true) * real(0.5);
}

/// Queries: each shifted by its own largest exponent, which cancels. Keys: shifted by theirs, which the gain puts back.
LinearOperands positive_features(const Tensor& q, const Tensor& k, const Tensor& features) {
  const Tensor of_q = positive_exponents(q, features), of_k = positive_exponents(k, features);
  const Tensor top_q = max(of_q.detach(), {-1}, true), top_k = max(of_k.detach(), {-1}, true);
  return {exp(of_q - top_q), exp(of_k - top_k), squeeze(top_k, {-1})};
}

/// exp(q.k) = exp(|q|^2/2) exp(|k|^2/2) exp(-|q-k|^2/2): the last by sines and cosines of w.x (Rahimi and Recht 2007),
/// the second as the keys' gain; the first cancels.
LinearOperands fourier_features(const Tensor& q, const Tensor& k, const Tensor& features) {
  const auto waves = [&](const Tensor& x) {
    const Tensor angles = matmul(x, features, {.transpose_b = true});
    return concat({sin(angles), cos(angles)}, -1);
  };
  return {waves(q), waves(k), sum(k * k, {-1}) * real(0.5)};
}

/// [B, S] as a mask over [B, 1, S, 1].
Mask over_rows(const Mask& padding) {
  Mask out = padding;
  out.reshape(Shape{padding.shape()[0], 1, padding.shape()[1], 1});
  return out;
}

Tensor linear_mix(const AttentionForm& form, const Tensor& q, const Tensor& k, const Tensor& v,
                  const AttentionOptions& o, const MixOperands& operands) {
  if (o.mask.dimension() > 0)
    throw UnsupportedError("attention",
                           "a mask of single pairs needs the T x S weights that this kind never forms; use causal and "
                           "key_padding");
  const LinearOperands x = linear_operands(form, q, k, o.key_padding, operands);
  const LinearAttentionOptions masks = {.causal = o.causal, .key_padding = o.key_padding};
  return form.kind == AttentionKind::separable ? separable_attention(x.q, x.k, v, masks)
                                               : linear_attention(x.q, x.k, v, x.log_gain, masks);
}

}  // namespace

LinearOperands linear_operands(const AttentionForm& form, const Tensor& q, const Tensor& keys, const Mask& key_padding,
                               const MixOperands& operands) {
  // A feature of NaN would hand back NaN for a zero gradient.
  const Tensor k = key_padding.dimension() > 0 ? masked_fill(keys, over_rows(key_padding), 0) : keys;
  const real root = std::sqrt(scale_of(form, q));  // on both sides: their product has the scale
  switch (form.kind) {
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
      return {form.feature_map(q), form.feature_map(k)};
    case AttentionKind::softmax:
    case AttentionKind::additive:
    case AttentionKind::argmax:
      break;
  }
  throw ValueError("attention", "this kind is not linear");
}

Array alibi_bias(index_t heads, index_t queries, index_t keys) {
  const std::vector<double> slopes = alibi_slopes(heads);
  Array out(Shape{static_cast<std::size_t>(heads), static_cast<std::size_t>(queries), static_cast<std::size_t>(keys)});
  real* to = out.data();
  for (double slope : slopes)
    for (index_t t = 0; t < queries; ++t)
      for (index_t s = 0; s < keys; ++s)
        *to++ = static_cast<real>(-slope * static_cast<double>(t + keys - queries - s));
  return out;
}

Tensor mix_heads(const AttentionForm& form, const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionOptions& options, const MixOperands& operands) {
  const bool alibi = form.positions == AttentionPositions::alibi;
  if (form.kind == AttentionKind::softmax && !alibi) return scaled_dot_product_attention(q, k, v, options);
  if (form.kind == AttentionKind::softmax || form.kind == AttentionKind::additive) {
    Tensor scores = form.kind == AttentionKind::softmax ? dot_scores(q, k, scale_of(form, q))
                                                        : additive_scores(q, k, operands.score_weight, options);
    if (alibi) scores = scores + Tensor(alibi_bias(q.extent(1), q.extent(2), k.extent(2)));
    return attention_from_scores(scores, v, options);
  }
  const Tensor mixed = form.kind == AttentionKind::argmax ? hard_attention(q, k, v, options)
                                                          : linear_mix(form, q, k, v, options, operands);
  return dropout(mixed, options.dropout, options.dropout_key);
}

}  // namespace xtape::inline XTAPE_DTYPE
