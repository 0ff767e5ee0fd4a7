// Attention by scores that are stored, or by the best score alone. Letters: B batch, T queries, S keys, H heads, H' key
// heads (a divisor of H), D width of queries and keys, V width of values. For the usual softmax of q.k use
// scaled_dot_product_attention, which never stores a T x S matrix.
#pragma once

#include <xtape/core/ops/attention.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Scores of additive attention (Bahdanau et al. 2015): w.tanh(q_t + k_s), with q and k as projected by W and U there.
/// q [B, H, T, D], k [B, H', S, D], w [H, D] -> [B, H, T, S]; 0 where `options` hides. The sums themselves (T S D
/// numbers a head) are not kept. Of `options` only the masks are read. Throws ShapeError.
Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& w, const AttentionOptions& options = {});

/// softmax over what each query sees of scores [B, H, T, S], times v [B, H', S, V] -> [B, H, T, V]. Masks and dropout
/// of `options` as in scaled_dot_product_attention, without its scale: a query that sees nothing gives zeros, and what
/// is hidden has exactly no influence. Throws ShapeError, ValueError.
Tensor attention_from_scores(const Tensor& scores, const Tensor& v, const AttentionOptions& options = {});

/// Hard attention: for each query the value of the key with the largest q.k among those it sees (the first of equals);
/// zeros if it sees none. q [B, H, T, D], k [B, H', S, D], v [B, H', S, V] -> [B, H, T, V]. The gradients of queries
/// and keys are exactly zero. Of `options` only the masks are read. Throws ShapeError.
Tensor hard_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

}  // namespace xtape::inline XTAPE_DTYPE
