// Scaled dot-product attention (Vaswani et al. 2017, equation 1). Letters: B batch, T queries, S keys, H heads, D width
// of a head, C = H D.
#pragma once

#include <xtape/core/random.hpp>
#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// Masks are true where a key is hidden. A key is hidden if any mask, or causality, hides it.
struct AttentionOptions {
  bool causal = false;    ///< query t attends to keys up to t + S - T: the last query to all
  Mask key_padding = {};  ///< [B, S], or empty
  Mask mask = {};         ///< [T, S] or [B, T, S], or empty
  double scale = 0;       ///< of the scores; 0 means 1/sqrt(D)
  double dropout = 0;     ///< probability with which each weight is dropped
  RandomKey dropout_key = {};
};

/// The scale in use, 1/sqrt(D) for 0. Throws ValueError for one that is negative or infinite.
real attention_scale(const char* op, double scale, index_t width);

/// softmax(scale q k^T) v. q [B, H, T, D], k [B, H', S, D], v [B, H', S, V] -> [B, H, T, V]; H a multiple of H'
/// (grouped and multi-query attention: head h reads key head h / (H/H')). A query that attends to no key gives zeros
/// and zero gradients; hidden keys and values have no influence at all. The T x S matrix is never stored. Throws
/// ShapeError, ValueError.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

/// Attention of packed projections: the columns of qkv [B, T, 3C] are q, k and v, and each of them the heads -> [B, T,
/// C]. Copies nothing to separate the heads. Throws ShapeError, ValueError.
Tensor self_attention(const Tensor& qkv, index_t heads, const AttentionOptions& options = {});

}  // namespace xtape::inline XTAPE_DTYPE
