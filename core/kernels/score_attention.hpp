// Attention by stored scores [B, H, T, S]: where the scores are no products of queries and keys, or the weights are
// wanted. One row is one query of one head. What is hidden is never read.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Who sees whom: sizes, causality and masks, as in AttentionProblem.
struct AttentionMask {
  index_t batches, heads, key_heads, queries, keys;
  bool causal;
  const bool* padding;  ///< [batches, keys], or null
  const bool* hidden;   ///< [queries, keys] with hidden_batch = 0, or [batches, queries, keys]; or null
  index_t hidden_batch;

  /// Keys that causality lets query t see, before masks.
  index_t causal_limit(index_t t) const;
  bool masked(index_t b, index_t t, index_t s) const {
    return (padding && padding[b * keys + s]) || (hidden && hidden[b * hidden_batch + t * keys + s]);
  }
};

/// scores[b, h, t, s] = sum_d w[h, d] tanh(q[b, h, t, d] + k[b, h', s, d]); 0 where hidden.
void additive_scores(const AttentionMask& mask, index_t width, const real* q, const real* k, const real* w,
                     real* scores);
/// Gradients of all three, added to what is there; tanh is computed anew. A zero upstream gradient reads nothing.
void additive_scores_backward(const AttentionMask& mask, index_t width, const real* q, const real* k, const real* w,
                              const real* upstream, real* dq, real* dk, real* dw);

/// weights = softmax(scores) over what each query sees, 0 elsewhere; scores and weights may be one array.
void masked_softmax(const AttentionMask& mask, const real* scores, real* weights);

/// out[b, h, t] = sum_s weights[b, h, t, s] v[b, h', s]: an exactly zero weight takes nothing, not even NaN.
void attention_values(const AttentionMask& mask, index_t value_width, const real* weights, const real* v, real* out);
/// dv added to; dweights[b, h, t, s] = dout.v_s where the weight is not 0, else 0.
void attention_values_backward(const AttentionMask& mask, index_t value_width, const real* weights, const real* v,
                               const real* upstream, real* dweights, real* dv);

/// choice[b, h, t] = the first s with the largest q_t.k_s among those seen, -1 if there is none.
void argmax_keys(const AttentionMask& mask, index_t width, const real* q, const real* k, index_t* choice);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
