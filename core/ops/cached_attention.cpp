#include <xtape/core/kernels/cached_attention.hpp>
#include <xtape/core/ops/attention.hpp>
#include <xtape/core/ops/cached_attention.hpp>
#include <xtape/core/ops/internal/attention_sizes.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

constexpr index_t kManyQueries = 16;  // from here on, copying the cache and packing it is faster

/// The first `length` rows of every head without their padding; zeros past each sequence's length.
Tensor unpacked(const Array& rows, const IndexArray& lengths, index_t length, index_t width) {
  const Shape sizes = rows.shape();
  const index_t batches = sizes[0], heads = sizes[1], capacity = sizes[2], padded = sizes[3];
  Array out = full_array({batches, heads, length, width}, real(0));
  for (index_t head = 0; head < batches * heads; ++head)
    for (index_t s = 0; s < lengths.data()[head / heads]; ++s)
      std::copy_n(rows.data() + (head * capacity + s) * padded, width, out.data() + (head * length + s) * width);
  return out;
}

/// visible[b, t]: how many cached positions query t of sequence b attends to; none past the chunk's length.
IndexArray visible_positions(const CachedKeys& cached, const IndexArray& chunk_lengths, index_t time) {
  IndexArray out = empty_array<IndexArray>({numel(cached.lengths), time});
  for (index_t b = 0; b < numel(cached.lengths); ++b) {
    const index_t length = cached.lengths.data()[b];
    const index_t chunk = chunk_lengths.dimension() ? chunk_lengths.data()[b] : time;
    for (index_t t = 0; t < time; ++t) out.data()[b * time + t] = t < chunk ? length - chunk + t + 1 : 0;
  }
  return out;
}

}  // namespace

index_t cached_row_width(index_t width) { return kernels::cached_row_width(width); }

Tensor cached_positions(const Array& rows, const IndexArray& lengths, index_t width) {
  return unpacked(rows, lengths, *std::max_element(lengths.begin(), lengths.end()), width);
}

Mask cached_mask(const CachedKeys& cached, const IndexArray& chunk_lengths, index_t time) {
  const IndexArray visible = visible_positions(cached, chunk_lengths, time);
  const index_t longest = *std::max_element(cached.lengths.begin(), cached.lengths.end());
  Mask hidden = empty_array<Mask>({numel(cached.lengths), time, longest});
  for (index_t row = 0; row < numel(visible); ++row)
    for (index_t s = 0; s < longest; ++s) hidden.data()[row * longest + s] = s >= visible.data()[row];
  return hidden;
}

Tensor cached_attention(const Tensor& q, const CachedKeys& cached, const IndexArray& chunk_lengths, double scale) {
  const Shape k = cached.keys.shape();
  const AttentionSizes sizes = attention_sizes("cached_attention", q.shape(), {k[0], k[1], k[2], cached.width},
                                               {k[0], k[1], k[2], cached.value_width});
  const index_t time = sizes.queries;
  if (time >= kManyQueries)
    return scaled_dot_product_attention(q.detach(), cached_positions(cached.keys, cached.lengths, cached.width),
                                        cached_positions(cached.values, cached.lengths, cached.value_width),
                                        {.mask = cached_mask(cached, chunk_lengths, time), .scale = scale});
  const IndexArray visible = visible_positions(cached, chunk_lengths, time);
  kernels::CachedAttentionProblem p = {};
  sizes.set(p, &kernels::CachedAttentionProblem::width, &kernels::CachedAttentionProblem::capacity);
  p.scale = attention_scale("cached_attention", scale, cached.width);
  p.q = q.data();
  p.keys = cached.keys.data();
  p.values = cached.values.data();
  p.visible = visible.data();
  Array out = empty_array({p.batches, p.heads, time, p.value_width});
  kernels::cached_attention(p, out.data());
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
