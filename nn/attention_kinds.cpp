#include <xtape/core/error.hpp>
#include <xtape/core/kernels/reduce.hpp>
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

#include <algorithm>
#include <cmath>
#include <limits>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Scores scale q k^T [B, H, T, S]. The H/H' query heads of one key head become rows of one product.
Tensor dot_scores(const Tensor& q, const Tensor& k, real scale) {
  const index_t batches = q.size(0), key_heads = k.size(1), group = q.size(1) / key_heads;
  const Tensor grouped = reshape(q * scale, {batches, key_heads, group * q.size(2), q.size(3)});
  return reshape(matmul(grouped, k, {.transpose_b = true}), {batches, q.size(1), q.size(2), k.size(2)});
}

/// [B, H, T, 1]: the rows of x [B, H, T, D] that are not finite.
Mask bad_rows(const Tensor& x) {
  Mask out = empty_array<Mask>({x.size(0), x.size(1), x.size(2), 1});
  for (index_t row = 0; row < numel(out); ++row)
    out.data()[row] = !kernels::all_finite(x.data() + row * x.size(3), x.size(3));
  return out;
}

/// dot_scores, in whose gradients a row that is not finite does not reach those that do not see it, as 0 times NaN.
Tensor guarded_scores(const Tensor& q, const Tensor& k, real scale) {
  if (kernels::all_finite(q.data(), q.numel()) && kernels::all_finite(k.data(), k.numel()))
    return dot_scores(q, k, scale);
  const Mask bad_q = bad_rows(q), bad_k = bad_rows(k);
  const Tensor as_they_are = dot_scores(q.detach(), k.detach(), scale);
  Mask bad = empty_array<Mask>(as_they_are.shape());
  const index_t group = q.size(1) / k.size(1), keys = k.size(2), queries = q.size(2);
  for (index_t i = 0; i < numel(bad); ++i) {
    const index_t row = i / keys;  // of q
    bad.data()[i] = bad_q.data()[row] || bad_k.data()[row / queries / group * keys + i % keys];
  }
  return where(bad, as_they_are, dot_scores(masked_fill(q, bad_q, 0), masked_fill(k, bad_k, 0), scale));
}

/// The largest finite number: log weights of keys beyond it are cut off there, so that they stay comparable.
constexpr real kMost = std::numeric_limits<real>::max();

/// |x|^2/2 over the last axis.
Tensor half_square(const Tensor& x) { return sum(x * x, {-1}) * real(0.5); }

/// exp(w.x - |x|^2/2) is a positive random feature of x, where x was multiplied by sqrt(scale), so that the products of
/// features estimate exp(scale q.k) (Choromanski et al. 2021, lemma 1). The exponents w.x are shifted by their largest
/// against overflow. For a query the shift and |q|^2/2 cancel in the normalization; for a key they are returned as its
/// log weight.
AttentionFeatures positive_features(const Tensor& q, const Tensor& k, const Tensor& features) {
  const Tensor of_q = matmul(q, features, {.transpose_b = true}), of_k = matmul(k, features, {.transpose_b = true});
  const Tensor top_q = max(of_q.detach(), {-1}, true), top_k = max(of_k.detach(), {-1}, true);
  return {exp(of_q - top_q), exp(of_k - top_k), clamp(squeeze(top_k, {-1}) - half_square(k), -kMost, kMost)};
}

/// Uses exp(q.k) = exp(|q|^2/2) exp(|k|^2/2) exp(-|q-k|^2/2). The last factor is estimated by sines and cosines of w.x
/// (Rahimi and Recht 2007). The log of the second, |k|^2/2, is returned as the log weight of the key. The first factor
/// cancels in the normalization.
AttentionFeatures fourier_features(const Tensor& q, const Tensor& k, const Tensor& features) {
  const auto waves = [&](const Tensor& x) {
    const Tensor angles = matmul(x, features, {.transpose_b = true});
    return concat({sin(angles), cos(angles)}, -1);
  };
  return {waves(q), waves(k), clamp(half_square(k), -kMost, kMost)};
}

/// elu(x) + 1: x + 1 for x > 0, exp(x) elsewhere, without the digits that a sum of about -1 and 1 loses.
Tensor exp_or_linear(const Tensor& x) { return relu(x) + exp(clamp(x, -std::numeric_limits<real>::infinity(), 0)); }

/// Rows of x far below 0, whose exponentials may vanish, are divided by that of their largest element. Returns the
/// features elu + 1 and the logs of the divisors [...], which are undefined if no row needs it.
std::pair<Tensor, Tensor> elu_features(const Tensor& x) {
  constexpr real limit = -30;
  const index_t width = x.size(-1), rows = width ? x.numel() / width : 0;
  Shape shape = x.shape();
  shape.back() = 1;
  Array shift = full_array(shape, real(0));
  bool shifted = false;
  for (index_t r = 0; r < rows; ++r) {
    const real most = *std::max_element(x.data() + r * width, x.data() + (r + 1) * width);
    if (!(most < limit) || !std::isfinite(most)) continue;
    shift.data()[r] = most;
    shifted = true;
  }
  if (!shifted) return {exp_or_linear(x), Tensor()};
  const Tensor largest(std::move(shift));
  return {exp_or_linear(x - largest), squeeze(largest, {-1})};
}

/// Rows of x whose squares may overflow are divided by a power of two u > max|x|: the features of x / u, with 1 / u in
/// place of 1, are those of x / u^2. Returns them and the logs of u^2 [...], which are undefined if no row needs it.
std::pair<Tensor, Tensor> scaled_quadratic_features(const Tensor& x) {
  constexpr real limit = 0x1p20;
  const index_t width = x.size(-1), rows = width ? x.numel() / width : 0;
  Shape shape = x.shape();
  shape.back() = 1;
  Array unit = full_array(shape, 1), log_weight = full_array(Shape(shape.begin(), shape.end() - 1), 0);
  bool scaled = false;
  for (index_t r = 0; r < rows; ++r) {
    real most = 0;
    for (index_t i = 0; i < width; ++i) most = std::max(most, std::abs(x.data()[r * width + i]));
    if (most <= limit || !std::isfinite(most)) continue;
    const int exponent = std::ilogb(most) + 1;
    unit.data()[r] = std::ldexp(real(1), -exponent);
    log_weight.data()[r] = static_cast<real>(2 * exponent * std::log(2.0));
    scaled = true;
  }
  if (!scaled) return {quadratic_features(x), Tensor()};
  const Tensor units(std::move(unit));
  return {quadratic_features(x * units, units), Tensor(std::move(log_weight))};
}

/// A padding mask [B, S] as a mask [B, 1, S, 1] of the rows of k [B, H', S, D]. Throws ShapeError.
Mask over_rows(const Mask& padding, const Tensor& k) {
  if (k.rank() != 4) throw ShapeError("attention", "k [B, H', S, D]", k.shape());
  check_shape("attention", "key_padding", padding.shape(), Shape{k.size(0), k.size(2)});
  Mask out = padding;
  out.reshape(Shape{k.size(0), 1, k.size(2), 1}.unsigned_sizes());
  return out;
}

Tensor linear_mix(const AttentionConfig& config, const Tensor& q, const Tensor& k, const Tensor& v,
                  const AttentionOptions& o, const AttentionWeights& operands) {
  if (is_given(o.mask))
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
  const Tensor k = is_given(key_padding) ? masked_fill(keys, over_rows(key_padding, keys), 0) : keys;
  const real root = std::sqrt(
      attention_scale("attention", config.scale, q.size(3)));  // applied to q and to k, so their product has the scale
  switch (config.kind) {
    case AttentionKind::separable:
      return {softmax(q), k};
    case AttentionKind::quadratic: {
      const auto [of_k, log_weight] = scaled_quadratic_features(k * root);
      return {scaled_quadratic_features(q * root).first, of_k, log_weight};
    }
    case AttentionKind::elu: {
      const auto [of_k, log_weight] = elu_features(k);
      return {elu_features(q).first, of_k, log_weight};
    }
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
  throw ValueError("attention", "a linear kind of attention", "another");
}

Array alibi_bias(index_t heads, index_t queries, index_t keys) {
  Array out = empty_array({heads, queries, keys});
  real* to = out.data();
  for (double alibi_slope : alibi_slopes(heads))
    for (index_t t = 0; t < queries; ++t)
      for (index_t s = 0; s < keys; ++s)
        *to++ = static_cast<real>(-alibi_slope * static_cast<double>(t + keys - queries - s));
  return out;
}

Tensor attend(const AttentionConfig& config, const Tensor& q, const Tensor& k, const Tensor& v,
              const AttentionOptions& options, const AttentionWeights& operands) {
  if (options.scale != config.scale) {  // the configuration has the only scale
    AttentionOptions same = options;
    same.scale = config.scale;
    return attend(config, q, k, v, same, operands);
  }
  const bool alibi = config.positions == AttentionPositions::alibi;
  if (config.kind == AttentionKind::softmax && !alibi) return scaled_dot_product_attention(q, k, v, options);
  if (config.kind == AttentionKind::softmax || config.kind == AttentionKind::additive) {
    const real scale = attention_scale("attention", config.scale, q.size(3));
    Tensor scores = config.kind == AttentionKind::softmax ? guarded_scores(q, k, scale)
                                                          : additive_scores(q, k, operands.score_weight, options);
    if (alibi) scores = scores + Tensor(alibi_bias(q.size(1), q.size(2), k.size(2)));
    return attention_from_scores(scores, v, options);
  }
  const Tensor mixed = config.kind == AttentionKind::argmax ? hard_attention(q, k, v, options)
                                                            : linear_mix(config, q, k, v, options, operands);
  return dropout(mixed, options.dropout, options.dropout_key);
}

}  // namespace xtape::inline XTAPE_DTYPE
