// The attention function of every kind: queries, keys and values by heads in, weighted sums of values out.
#pragma once

#include <xtape/core/ops/linear_attention.hpp>
#include <xtape/nn/attention_config.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Parameters and buffers that some kinds need beside queries, keys and values.
struct AttentionWeights {
  Tensor score_weight = {};  ///< [H, D]; additive
  Tensor features = {};      ///< [m, D], the random vectors; rff, prf
};

/// Attention of `config.kind` with the scale of `config`, under the masks of `options` (whose scale is not read): q [B,
/// H, T, D], k [B, H', S, D], v [B, H', S, V] -> [B, H, T, V]. Does not apply rotary positions. A masked key has
/// exactly no influence, and a query with no unmasked key gives zeros. Dropout acts on the attention weights, or on the
/// result for kinds that compute no weights (argmax and the linear kinds). Throws ShapeError, ValueError, and
/// UnsupportedError for options.mask with a linear kind.
Tensor attend(const AttentionConfig& config, const Tensor& q, const Tensor& k, const Tensor& v,
              const AttentionOptions& options, const AttentionWeights& operands = {});

/// Features of a linear kind: the operands of linear_attention, or of separable_attention for kind separable.
struct AttentionFeatures {
  Tensor q, k;                 ///< [B, H, T, F] and [B, H', S, F]
  Tensor log_key_weight = {};  ///< [B, H', S]; undefined means 0
};
/// Computes the features of q [B, H, T, D] and k [B, H', S, D]. Keys masked by `key_padding` [B, S] count as zeros.
/// Throws ValueError for a kind that is not linear.
AttentionFeatures attention_features(const AttentionConfig& config, const Tensor& q, const Tensor& k,
                                     const Mask& key_padding, const AttentionWeights& operands);

/// The bias [H, T, S] that ALiBi adds to the scores: -slope_h (t + S - T - s) for query t and key s (Press et al.
/// 2022).
Array alibi_bias(index_t heads, index_t queries, index_t keys);

}  // namespace xtape::inline XTAPE_DTYPE
