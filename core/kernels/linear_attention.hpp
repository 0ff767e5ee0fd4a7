// Attention without the T x S matrix: running sums over the keys, read by each query as it comes to see them. Letters:
// F features, V width of values; everything contiguous. Time T F V, memory F V a head.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Normal form: out_i = sum_j w_ij v_j / sum_j w_ij with w_ij = q_i.k_j exp(gain_j). Separable form: out_i = sum_f q_if
/// sum_j exp(k_jf) v_j / sum_j exp(k_jf). A denominator of exactly 0 gives zeros.
struct LinearAttentionProblem {
  index_t batches, heads, key_heads;  ///< head h reads key head h / (heads/key_heads)
  index_t queries, keys, features, value_width;
  bool causal;                 ///< query t sees keys up to t + keys - queries
  bool separable;              ///< keys are logarithms, each feature with a denominator of its own
  const bool* padding;         ///< [batches, keys], true: hidden; or null
  const real* q;               ///< [batches, heads, queries, features]
  const real* k;               ///< [batches, key_heads, keys, features]
  const real* v;               ///< [batches, key_heads, keys, value_width]
  const real* log_key_weight;  ///< [batches, key_heads, keys] or null; normal form only
};

/// Elements of the sums of one key head: what `state` holds for each (batch, key head).
index_t linear_state_size(index_t features, index_t value_width);

/// An empty state.
void clear_linear_state(real* state, index_t features, index_t value_width);

/// out [batches, heads, queries, value_width]. `state` [batches, key_heads, linear_state_size] goes on from what it
/// holds and is brought up to date; null: starts empty. What is hidden is never read.
void linear_attention(const LinearAttentionProblem& problem, real* state, real* out);

/// Where gradients go, each written or added to; null: not wanted.
struct LinearAttentionGradients {
  real *dq, *dk, *dv, *dlog_key_weight;
  bool accumulate_q, accumulate_k, accumulate_v, add_log_key_weight;
};

/// From an empty state. A query whose upstream gradient is all zero takes no part.
void linear_attention_backward(const LinearAttentionProblem& problem, const real* out, const real* upstream,
                               const LinearAttentionGradients& gradients);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
