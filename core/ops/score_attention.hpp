// Attention with stored scores, and attention to the best key alone. Letters: B batch, T queries, S keys, H heads, H'
// key heads (a divisor of H), D width of queries and keys, V width of values. For the usual softmax of q.k use
// scaled_dot_product_attention, which never stores a T x S matrix.
#pragma once

#include <xtape/core/ops/attention.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Scores of additive attention (Bahdanau et al. 2015): w.tanh(q_t + k_s), where q and k are already projected.
/// q [B, H, T, D], k [B, H', S, D], w [H, D] -> [B, H, T, S]; 0 for hidden keys. The tanh values (T S D for each head)
/// are not stored. Reads only the masks of `options`. Throws ShapeError.
Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& w, const AttentionOptions& options = {});

/// softmax of scores [B, H, T, S] over the keys that each query attends to, times v [B, H', S, V] -> [B, H, T, V].
/// Masks and dropout of `options` as in scaled_dot_product_attention; its scale is not used. A query that attends to
/// nothing gives zeros, and hidden keys have no influence at all. Throws ShapeError, ValueError.
Tensor attention_from_scores(const Tensor& scores, const Tensor& v, const AttentionOptions& options = {});

/// Hard attention: for each query the value of the visible key with the largest q.k (the first of equals; a NaN counts
/// as the largest, as in argmax), zeros if no key is visible. q [B, H, T, D], k [B, H', S, D], v [B, H', S, V] -> [B,
/// H, T, V]. The gradients of queries and keys are exactly zero. Reads only the masks of `options`. Throws ShapeError.
Tensor hard_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

}  // namespace xtape::inline XTAPE_DTYPE
