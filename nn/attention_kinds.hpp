// The mixing step of every kind of attention: heads of queries, keys and values in, mixed values out.
#pragma once

#include <xtape/core/ops/linear_attention.hpp>
#include <xtape/nn/attention_config.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// What a kind needs beside queries, keys and values.
struct AttentionWeights {
  Tensor score_weight = {};  ///< [H, D]: additive
  Tensor features = {};      ///< [m, D]: rff, prf
};

/// q [B, H, T, D], k [B, H', S, D], v [B, H', S, V] -> [B, H, T, V], weighed as `config.kind` says under the masks of
/// `options`; rotary positions are not applied here. A query that sees nothing gives zeros; what is hidden has exactly
/// no influence. Dropout acts on the weights, or on the mixed values where no weights are formed. Throws ShapeError,
/// ValueError, and UnsupportedError for options.mask with a linear kind.
Tensor attend(const AttentionConfig& config, const Tensor& q, const Tensor& k, const Tensor& v,
              const AttentionOptions& options, const AttentionWeights& operands = {});

/// The features of a linear kind: what `linear_attention` (or, for separable, `separable_attention`) takes.
struct AttentionFeatures {
  Tensor q, k;
  Tensor log_key_weight = {};  ///< empty for none
};
/// q [B, H, T, D], k [B, H', S, D] -> features. Keys hidden by `key_padding` [B, S] are read as zeros.
AttentionFeatures attention_features(const AttentionConfig& config, const Tensor& q, const Tensor& k,
                                     const Mask& key_padding, const AttentionWeights& operands);

/// What ALiBi adds to the scores (Press et al. 2022): -slope_h (t + S - T - s), [H, T, S].
Array alibi_bias(index_t heads, index_t queries, index_t keys);

}  // namespace xtape::inline XTAPE_DTYPE
