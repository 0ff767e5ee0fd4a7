// Attention with stored scores [B, H, T, S], for scores that are not products of queries and keys, and for callers that
// need the weights. One row is one query of one head. Hidden elements are never read.
#pragma once

#include <xtape/core/kernels/attention.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Additive scores of q [.., D] and k [.., D] with the weights w [H, D].
struct AdditiveScores {
  AttentionMask mask;
  index_t width;
  const real *q, *k, *w;
};

/// scores[b, h, t, s] = sum_d w[h, d] tanh(q[b, h, t, d] + k[b, h', s, d]); 0 where hidden.
void additive_scores(const AdditiveScores& in, real* scores);
/// Adds the gradients of all three; tanh is recomputed. Where the upstream gradient is 0, q and k are not read.
void additive_scores_backward(const AdditiveScores& in, const real* upstream, real* dq, real* dk, real* dw);

/// weights = softmax(scores) over the keys that each query attends to, 0 elsewhere; scores and weights may be one
/// array.
void masked_softmax(const AttentionMask& mask, const real* scores, real* weights);

/// out[b, h, t] = sum_s weights[b, h, t, s] v[b, h', s]: a weight of exactly 0 contributes nothing, even if v holds
/// NaN.
void attention_values(const AttentionMask& mask, index_t value_width, const real* weights, const real* v, real* out);
/// Adds to dv; dweights[b, h, t, s] = dout.v_s where the weight is not 0, else 0. Either may be null.
void attention_values_backward(const AttentionMask& mask, index_t value_width, const real* weights, const real* v,
                               const real* upstream, real* dweights, real* dv);

/// choice[b, h, t] = the first visible s with the largest q_t.k_s, the first NaN if there is one, -1 if no key is
/// visible.
void argmax_keys(const AttentionMask& mask, index_t width, const real* q, const real* k, index_t* choice);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
