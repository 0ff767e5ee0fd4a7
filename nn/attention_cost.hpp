// The cost of attention by formula. docs/attention.md lists the formulas.
#pragma once

#include <xtape/nn/attention_config.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// A batch of B sequences in which T queries attend to S keys.
struct AttentionSizes {
  index_t batch = 1;    ///< B
  index_t queries = 1;  ///< T
  index_t keys = 1;     ///< S
  bool causal = false;  ///< query t attends to the keys up to t + S - T
};

/// The cost of one forward pass of a MultiHeadAttention layer.
struct AttentionCost {
  double projections;      ///< multiply-adds of the projections of queries, keys, values and output
  double attention;        ///< multiply-adds of features, scores and weighted sums of values
  double parameter_bytes;  ///< size of the parameters; each is read once
  double cache_bytes;      ///< cache of the whole batch: keys and values of S positions, or sums of a linear kind
  double score_bytes;      ///< weights [B, H, T, S] kept for the backward pass; 0 for kinds that keep none

  double multiply_adds() const { return projections + attention; }
  double bytes() const { return parameter_bytes + cache_bytes; }  ///< bytes that one step of cached decoding reads
};

/// `config` must have no zero sizes: pass MultiHeadAttention::config(). C = `width`. Throws UnsupportedError for kind
/// custom, whose feature map has an unknown cost.
AttentionCost attention_cost(const AttentionConfig& config, index_t width, index_t heads, const AttentionSizes& sizes);

}  // namespace xtape::inline XTAPE_DTYPE
