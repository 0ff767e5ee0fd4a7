#include <xtape/core/kernels/cached_attention.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/scratch.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

using Problem = CachedAttentionProblem;

constexpr index_t kBlock = 64;  // keys that stay in the L1 cache while all queries of the group read them

/// body(first, count) for blocks of the first `length` keys.
template <class Body>
void in_blocks(index_t length, const Body& body) {
  for (index_t first = 0; first < length; first += kBlock) body(first, std::min(kBlock, length - first));
}

/// out += weights^T rows for `count` rows, without those of weight 0: they may be infinite.
void add_rows(const real* weights, const real* rows, index_t count, index_t width, real* out) {
  for (index_t s = 0; s < count; ++s)
    if (weights[s] != 0) isa().arithmetic.scaled(rows + s * width, weights[s], {out, true}, width);
}

/// All queries of one key head: row r is query r % queries of the group's head r / queries.
void attend_group(const Problem& p, index_t b, index_t key_head, real* out) {
  const index_t group = p.heads / p.key_heads, rows = group * p.queries;
  const index_t width = cached_row_width(p.width), value_width = cached_row_width(p.value_width);
  const real* keys = p.keys + (b * p.key_heads + key_head) * p.capacity * width;
  const real* values = p.values + (b * p.key_heads + key_head) * p.capacity * value_width;
  const index_t* visible = p.visible + b * p.queries;
  const index_t longest = p.queries ? *std::max_element(visible, visible + p.queries) : 0;
  const index_t first_row = (b * p.heads + key_head * group) * p.queries;
  const Scratch<real> q(rows * width), weights(rows * longest), sums(rows * value_width), part(value_width);
  std::fill_n(q.data(), rows * width, real(0));
  std::fill_n(sums.data(), rows * value_width, real(0));
  for (index_t r = 0; r < rows; ++r)
    isa().arithmetic.scaled(p.q + (first_row + r) * p.width, p.scale, {q.data() + r * width}, p.width);
  in_blocks(longest, [&](index_t first, index_t count) {
    for (index_t r = 0; r < rows; ++r)
      isa().linear_attention.gemv(keys + first * width, count, width, q.data() + r * width,
                                  weights.data() + r * longest + first);
  });
  for (index_t r = 0; r < rows; ++r)
    isa().softmax.softmax(weights.data() + r * longest, weights.data() + r * longest, visible[r % p.queries]);
  in_blocks(longest, [&](index_t first, index_t count) {
    for (index_t r = 0; r < rows; ++r) {
      const index_t seen = std::min(count, visible[r % p.queries] - first);
      if (seen <= 0) continue;
      isa().linear_attention.gemv_transposed(values + first * value_width, seen, value_width,
                                             weights.data() + r * longest + first, part.data());
      isa().arithmetic.scaled(part.data(), 1, {sums.data() + r * value_width, true}, value_width);
    }
  });
  for (index_t r = 0; r < rows; ++r) {
    real* sum = sums.data() + r * value_width;
    if (!isa().reduce.all_finite(sum, value_width)) {
      std::fill_n(sum, value_width, real(0));
      add_rows(weights.data() + r * longest, values, visible[r % p.queries], value_width, sum);
    }
    std::copy_n(sum, p.value_width, out + (first_row + r) * p.value_width);
  }
}

}  // namespace

index_t cached_row_width(index_t width) {
  const index_t lanes = isa().linear_attention.lanes;
  return (width + lanes - 1) / lanes * lanes;
}

void cached_attention(const Problem& p, real* out) {
  parallel_for(p.batches * p.key_heads,
               [&](index_t task) { attend_group(p, task / p.key_heads, task % p.key_heads, out); });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
