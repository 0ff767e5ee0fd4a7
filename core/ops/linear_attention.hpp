// Attention in time and memory linear in the number of keys. Letters: B batch, T queries, S keys, H heads, H' key heads
// (a divisor of H), F features, V width of values.
#pragma once

#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Combined by OR of what is hidden. There is no [T, S] mask: what it says cannot be summed over keys beforehand.
struct LinearAttentionOptions {
  bool causal = false;    ///< query t sees keys up to t + S - T: the last query sees all
  Mask key_padding = {};  ///< [B, S], true: hidden; or empty
};

/// sum_j w_ij v_j / sum_j w_ij with w_ij = (q_i.k_j) exp(log_gain_j) over the keys that query i sees (Katharopoulos et
/// al. 2020, equations 9 and 12). q [B, H, T, F] and k [B, H', S, F] are features, v [B, H', S, V], log_key_weight [B,
/// H', S] or empty for 0 -> [B, H, T, V]. Gains are shifted by their running maximum, so large ones are safe. A
/// denominator of exactly 0 (a query that sees nothing, too) gives zeros and zero gradients. Throws ShapeError.
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_key_weight = {},
                        const LinearAttentionOptions& options = {});

/// sum_f a_if sum_j exp(k_jf) v_j / sum_j exp(k_jf): with a = softmax(q) over features this is softmax_row(Q)
/// softmax_col(K)^T V (Shen et al. 2021), where each query's softmax over keys runs over those that it sees. a [B, H,
/// T, F], k [B, H', S, F], v [B, H', S, V] -> [B, H, T, V]. Throws ShapeError.
Tensor separable_attention(const Tensor& a, const Tensor& k, const Tensor& v,
                           const LinearAttentionOptions& options = {});

/// Features of the quadratic kernel (x.y + 1)^2 = phi(x).phi(y): 1, sqrt2 x_i, x_i^2, sqrt2 x_i x_j for i < j.
/// [..., D] -> [..., (D+1)(D+2)/2].
Tensor quadratic_features(const Tensor& x);

}  // namespace xtape::inline XTAPE_DTYPE
