// Softmax attention in blocks of queries. The T x S matrix is never stored as a whole, blocks that causality hides are
// skipped, and the backward function recomputes the weights from the log of each row's sum.
#pragma once

#include <xtape/core/kernels/isa/types.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// The rows of one head in a contiguous [B, heads, rows, width] array; null for null.
template <class T>
T* head_rows(T* data, index_t b, index_t heads, index_t h, index_t rows, index_t width) {
  return offset_pointer(data, (b * heads + h) * rows * width);
}

/// One operand by strides: element (b, h, t, d) is data[b * batch + h * head + t * row + d].
template <class Data>
struct HeadRows {
  Data data;
  index_t batch, head, row;

  Data at(index_t b, index_t h, index_t t = 0) const { return offset_pointer(data, b * batch + h * head + t * row); }
};
using HeadsIn = HeadRows<const real*>;
using HeadsOut = HeadRows<Output>;

/// Sizes, and which query attends to which key.
struct AttentionMask {
  index_t batches, heads, key_heads;  ///< heads is a multiple of key_heads; head h reads key head h / (heads/key_heads)
  index_t queries, keys;
  bool causal;           ///< query t attends to keys up to t + keys - queries
  const bool* padding;   ///< [batches, keys], true: hidden; or null
  const bool* hidden;    ///< [queries, keys] with hidden_batch = 0, or [batches, queries, keys]; or null
  index_t hidden_batch;  ///< elements from one batch entry of `hidden` to the next

  index_t group() const { return heads / key_heads; }
  /// How many leading keys causality leaves to query t, before masks.
  index_t causal_limit(index_t t) const { return causal ? std::clamp<index_t>(t + 1 + keys - queries, 0, keys) : keys; }
  bool masked(index_t b, index_t t, index_t s) const {
    return (padding && padding[b * keys + s]) || (hidden && hidden[b * hidden_batch + t * keys + s]);
  }
};

/// Writes `count` random words for row `row` of the weights, for dropout.
using RowBits = void (*)(const void* context, index_t row, std::uint32_t* words, index_t count);

struct AttentionProblem : AttentionMask {
  index_t width, value_width;
  real scale;
  std::uint64_t drop_below;  ///< a weight is dropped if its random word is less; 0 for no dropout
  real keep_scale;           ///< 1/(1-p)
  RowBits bits;
  const void* bits_context;
  HeadsIn q, k, v;
};

/// out = softmax(scale q k^T) v by heads, overwritten. sums [batches, heads, queries] is for the backward function. For
/// a query that attends to no key, out is zero. Hidden keys and values have no influence, even if NaN.
void attention(const AttentionProblem& problem, HeadsOut out, SoftmaxRow* sums);

struct AttentionGradients {
  HeadsOut dq, dk, dv;
};
/// A query whose upstream gradient is all zero contributes nothing, even if it is NaN.
void attention_backward(const AttentionProblem& problem, HeadsIn out, const SoftmaxRow* sums, HeadsIn upstream,
                        const AttentionGradients& gradients);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
