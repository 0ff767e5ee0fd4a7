// What attention costs, by formula: docs/attention.md has the derivations.
#pragma once

#include <xtape/nn/attention_config.hpp>

namespace xtape::inline XTAPE_DTYPE {

/// B sequences, T queries that attend to S keys each.
struct AttentionSizes {
  index_t batch = 1;
  index_t queries = 1;
  index_t keys = 1;
  bool causal = false;  ///< query t sees keys up to t + S - T
};

/// Of one forward pass of a MultiHeadAttention layer.
struct AttentionCost {
  double projections;      ///< multiply-adds of the projections of queries, keys, values and output
  double attention;        ///< multiply-adds of features, scores and the mix of values
  double parameter_bytes;  ///< read once
  double cache_bytes;      ///< keys and values of S positions, or the sums of linear attention, of all sequences
  double score_bytes;      ///< T x S weights that are stored for the backward pass; 0 where they are not

  double multiply_adds() const { return projections + attention; }
  double bytes() const { return parameter_bytes + cache_bytes; }  ///< what a step of cached decoding reads
};

/// `config` as MultiHeadAttention::form gives it (without zeros), C = `width`.
AttentionCost attention_cost(const AttentionConfig& config, index_t width, index_t heads, const AttentionSizes& sizes);

}  // namespace xtape::inline XTAPE_DTYPE
