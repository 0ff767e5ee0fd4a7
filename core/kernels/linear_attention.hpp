// Attention without the T x S matrix: running sums over the keys, which each query reads once all its keys are added.
// Letters: T queries, S keys, F features, V width of values. All arrays are contiguous. Time T F V, memory F V a head.
#pragma once

#include <xtape/core/kernels/attention.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Normal form: out_i = sum_j w_ij v_j / sum_j w_ij with w_ij = q_i.k_j exp(log_key_weight_j). Separable form: out_i =
/// sum_f q_if sum_j exp(k_jf) v_j / sum_j exp(k_jf). A denominator of exactly 0 gives zeros.
struct LinearAttentionProblem : AttentionMask {  // without `hidden`
  index_t features, value_width;
  bool separable;              ///< keys are logarithms; each feature has its own denominator
  const real* q;               ///< [batches, heads, queries, features]
  const real* k;               ///< [batches, key_heads, keys, features]
  const real* v;               ///< [batches, key_heads, keys, value_width]
  const real* log_key_weight;  ///< [batches, key_heads, keys] or null; normal form only
};

/// Size of the state of one key head in one sequence.
index_t linear_state_size(index_t features, index_t value_width);

/// Makes the state empty.
void clear_linear_state(real* state, index_t features, index_t value_width);

/// out [batches, heads, queries, value_width]. Continues from `state` [batches, key_heads, linear_state_size] and
/// updates it; null: starts empty. Hidden keys and values are never read.
void linear_attention(const LinearAttentionProblem& problem, real* state, real* out);

struct LinearAttentionGradients {
  Output dq, dk, dv, dlog_key_weight;
};

/// Starts from an empty state. A query whose upstream gradient is all zero contributes nothing.
void linear_attention_backward(const LinearAttentionProblem& problem, const real* out, const real* upstream,
                               const LinearAttentionGradients& gradients);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
