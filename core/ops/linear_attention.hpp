// Attention in time and memory linear in the number of keys. Letters: B batch, T queries, S keys, H heads, H' key heads
// (a divisor of H), F features, V width of values.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// A key is hidden if either option hides it. There is no [T, S] mask, since sums over the keys cannot honor one.
struct LinearAttentionOptions {
  bool causal = false;    ///< query t attends to keys up to t + S - T: the last query to all
  Mask key_padding = {};  ///< [B, S], true: hidden; or empty
};

/// sum_j w_ij v_j / sum_j w_ij with w_ij = (q_i.k_j) exp(log_key_weight_j) over the keys that query i attends to
/// (Katharopoulos et al. 2020, equations 9 and 12). q [B, H, T, F] and k [B, H', S, F] are features, v [B, H', S, V],
/// log_key_weight [B, H', S] or empty for 0 -> [B, H, T, V]. The running maximum of log_key_weight is subtracted, so
/// large values do not overflow. A denominator of exactly 0, as for a query that attends to nothing, gives zeros and
/// zero gradients. Throws ShapeError.
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_key_weight = {},
                        const LinearAttentionOptions& options = {});

/// sum_f a_if sum_j exp(k_jf) v_j / sum_j exp(k_jf). With a = softmax(q) over features this is softmax_row(Q)
/// softmax_col(K)^T V (Shen et al. 2021), where each query's softmax over keys covers the keys it attends to.
/// a [B, H, T, F], k [B, H', S, F], v [B, H', S, V] -> [B, H, T, V]. Throws ShapeError.
Tensor separable_attention(const Tensor& a, const Tensor& k, const Tensor& v,
                           const LinearAttentionOptions& options = {});

/// Running sums over past keys, of constant size, for incremental decoding.
using LinearState = Array;

/// The state before the first key, [B, H', size]; its layout belongs to the kernels.
LinearState linear_state(index_t batches, index_t key_heads, index_t features, index_t value_width);

/// `linear_attention`, or `separable_attention`, of the next T positions (T = S, causal) after those in `state`, which
/// is updated. Not recorded on a tape. Throws ShapeError.
Tensor linear_attention_step(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_key_weight,
                             const Mask& key_padding, bool separable, LinearState& state);

/// Features phi of the quadratic kernel (x.y + 1)^2 = phi(x).phi(y), in this order: 1; sqrt2 x_i for every i; then for
/// every i the square x_i^2 and sqrt2 x_i x_j for the j > i. x [..., D] -> [..., (D+1)(D+2)/2]. With a `unit` [..., 1],
/// a constant, it stands in place of 1: (x.y + unit_x unit_y)^2. Throws ShapeError for a scalar or a wrong unit.
Tensor quadratic_features(const Tensor& x, const Tensor& unit = {});

}  // namespace xtape::inline XTAPE_DTYPE
