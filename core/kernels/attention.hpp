// Softmax attention in blocks of queries: the T x S matrix is never whole in memory, causally hidden blocks are
// skipped, and the backward recomputes what it needs from the log of each row's sum.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Rows of one operand: element (b, h, t, d) stands at data[b * batch + h * head + t * row + d].
template <class Pointer>
struct HeadRows {
  Pointer data;
  index_t batch, head, row;

  Pointer at(index_t b, index_t h) const { return offset_pointer(data, b * batch + h * head); }
};
using HeadsIn = HeadRows<const real*>;
using HeadsOut = HeadRows<real*>;

/// Random words for attention dropout: words of row `row`, `count` of them.
using RowBits = void (*)(const void* context, index_t row, std::uint32_t* words, index_t count);

struct AttentionProblem {
  index_t batches, heads, key_heads;  ///< heads is a multiple of key_heads; head h reads key head h / (heads/key_heads)
  index_t queries, keys, width, value_width;
  real scale;
  bool causal;               ///< query t sees keys up to t + keys - queries
  const bool* padding;       ///< [batches, keys], true: hidden; or null
  const bool* hidden;        ///< [queries, keys] with hidden_batch = 0, or [batches, queries, keys]; or null
  index_t hidden_batch;      ///< elements from one batch entry of `hidden` to the next
  std::uint64_t drop_below;  ///< a weight is dropped if its random word is less; 0 for no dropout
  real keep_scale;           ///< 1/(1-p)
  RowBits bits;
  const void* bits_context;
  HeadsIn q, k, v;
};

/// out = softmax(scale q k^T) v by heads. log_sums [batches, heads, queries] is what the backward needs; a row that
/// sees no key has minus infinity there and zeros in out. What is hidden has no influence, NaN included.
void attention(const AttentionProblem& problem, HeadsOut out, real* log_sums);

/// Gradients, each written or added to; a null data pointer skips it.
struct AttentionGradients {
  HeadsOut dq, dk, dv;
  bool accumulate_q, accumulate_k, accumulate_v;
};
void attention_backward(const AttentionProblem& problem, HeadsIn out, const real* log_sums, HeadsIn upstream,
                        const AttentionGradients& gradients);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
