// Scaled dot-product attention (Vaswani et al. 2017, equation 1). Letters: B batch, T queries, S keys, H heads, D width
// of a head, C = H D.
#pragma once

#include <xtape/core/ops/dropout.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Masks are booleans, true meaning hidden; all that are given, and causality, are combined by OR.
struct AttentionOptions {
  bool causal = false;    ///< query t sees keys up to t + S - T: the last query sees all
  Mask key_padding = {};  ///< [B, S], or empty
  Mask mask = {};         ///< [T, S] or [B, T, S], or empty
  double scale = 0;       ///< of the scores; 0 means 1/sqrt(D)
  double dropout = 0;     ///< probability with which each weight is dropped
  RandomKey dropout_key = {};
};

/// softmax(scale q k^T) v. q [B, H, T, D], k [B, H', S, D], v [B, H', S, V] -> [B, H, T, V]; H a multiple of H'
/// (grouped and multi-query attention: head h reads key head h / (H/H')). A query that sees no key gives zeros and zero
/// gradients; what is hidden has exactly no influence. The T x S matrix is never stored. Throws ShapeError, ValueError.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

/// The same over packed projections: qkv [B, T, 3C] holds q, k and v side by side, each with its heads side by side ->
/// [B, T, C]. No copies to separate the heads. Throws ShapeError, ValueError.
Tensor self_attention(const Tensor& qkv, index_t heads, const AttentionOptions& options = {});

}  // namespace xtape::inline XTAPE_DTYPE
