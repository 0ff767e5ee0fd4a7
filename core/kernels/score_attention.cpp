#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/isa/tables.hpp>
#include <xtape/core/kernels/score_attention.hpp>
#include <xtape/core/kernels/scratch.hpp>
#include <xtape/core/threads.hpp>

#include <algorithm>
#include <limits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

/// Rows of a [B, H, rows, width] array of one head.
template <class Pointer>
Pointer head_rows(Pointer data, index_t b, index_t heads, index_t h, index_t rows, index_t width) {
  return data + (b * heads + h) * rows * width;
}

/// body(b, h, key head) for every head, shared among threads by key heads, so that what belongs to a key head is added
/// to by one thread in a fixed order.
template <class Body>
void for_each_head(const Visibility& see, const Body& body) {
  const index_t group = see.heads / see.key_heads;
  parallel_for(see.batches * see.key_heads, [&](index_t task) {
    const index_t b = task / see.key_heads, key_head = task % see.key_heads;
    for (index_t h = key_head * group; h < (key_head + 1) * group; ++h) body(b, h, key_head);
  });
}

}  // namespace

index_t Visibility::in_reach(index_t t) const {
  return causal ? std::clamp<index_t>(t + 1 + keys - queries, 0, keys) : keys;
}

void additive_scores(const Visibility& see, index_t width, const real* q, const real* k, const real* w, real* scores) {
  for_each_head(see, [&](index_t b, index_t h, index_t key_head) {
    const Scratch<real> sums(see.keys * width);
    const real* keys = head_rows(k, b, see.key_heads, key_head, see.keys, width);
    for (index_t t = 0; t < see.queries; ++t) {
      real* row = head_rows(scores, b, see.heads, h, see.queries, see.keys) + t * see.keys;
      const index_t reach = see.in_reach(t);
      level().additive.tanh_sums(head_rows(q, b, see.heads, h, see.queries, width) + t * width, keys, reach, width,
                                 sums.data());
      for (index_t s = 0; s < see.keys; ++s)
        row[s] = s < reach && !see.hides(b, t, s)
                     ? static_cast<real>(level().reduce.dot(sums.data() + s * width, w + h * width, width))
                     : real(0);
    }
  });
}

void additive_scores_backward(const Visibility& see, index_t width, const real* q, const real* k, const real* w,
                              const real* upstream, real* dq, real* dk, real* dw) {
  const Scratch<real> partial(see.batches * see.heads * width);  // of dw, for every sequence
  std::fill_n(partial.data(), see.batches * see.heads * width, real(0));
  for_each_head(see, [&](index_t b, index_t h, index_t key_head) {
    const Scratch<real> sum(width);
    const real* keys = head_rows(k, b, see.key_heads, key_head, see.keys, width);
    real* key_slopes = head_rows(dk, b, see.key_heads, key_head, see.keys, width);
    for (index_t t = 0; t < see.queries; ++t) {
      const index_t at = ((b * see.heads + h) * see.queries + t) * width;
      const real* up = head_rows(upstream, b, see.heads, h, see.queries, see.keys) + t * see.keys;
      for (index_t s = 0; s < see.in_reach(t); ++s) {
        if (up[s] == 0 || see.hides(b, t, s)) continue;
        level().additive.tanh_sums(q + at, keys + s * width, 1, width, sum.data());
        level().additive.tanh_sum_slopes(up[s], sum.data(), w + h * width, width, dq + at, key_slopes + s * width,
                                         partial.data() + (b * see.heads + h) * width);
      }
    }
  });
  for (index_t b = 0; b < see.batches; ++b)
    for (index_t i = 0; i < see.heads * width; ++i) dw[i] += partial[b * see.heads * width + i];
}

void visible_softmax(const Visibility& see, const real* scores, real* weights) {
  for_each_head(see, [&](index_t b, index_t h, index_t) {
    for (index_t t = 0; t < see.queries; ++t) {
      const index_t at = ((b * see.heads + h) * see.queries + t) * see.keys, reach = see.in_reach(t);
      for (index_t s = 0; s < reach; ++s)
        weights[at + s] = see.hides(b, t, s) ? -std::numeric_limits<real>::infinity() : scores[at + s];
      level().softmax.softmax(weights + at, weights + at, reach);
      std::fill(weights + at + reach, weights + at + see.keys, real(0));
    }
  });
}

void weighted_values(const Visibility& see, index_t value_width, const real* weights, const real* v, real* out) {
  for_each_head(see, [&](index_t b, index_t h, index_t key_head) {
    const real* values = head_rows(v, b, see.key_heads, key_head, see.keys, value_width);
    for (index_t t = 0; t < see.queries; ++t) {
      const real* row = weights + ((b * see.heads + h) * see.queries + t) * see.keys;
      real* to = out + ((b * see.heads + h) * see.queries + t) * value_width;
      std::fill_n(to, value_width, real(0));
      for (index_t s = 0; s < see.in_reach(t); ++s)
        if (row[s] != 0) level().elementwise.scaled(values + s * value_width, row[s], to, true, value_width);
    }
  });
}

void weighted_values_backward(const Visibility& see, index_t value_width, const real* weights, const real* v,
                              const real* upstream, real* dweights, real* dv) {
  for_each_head(see, [&](index_t b, index_t h, index_t key_head) {
    const index_t at = (b * see.key_heads + key_head) * see.keys * value_width;
    for (index_t t = 0; t < see.queries; ++t) {
      const index_t row = ((b * see.heads + h) * see.queries + t) * see.keys;
      const real* up = upstream + ((b * see.heads + h) * see.queries + t) * value_width;
      for (index_t s = 0; s < see.keys; ++s) {
        const real weight = s < see.in_reach(t) ? weights[row + s] : 0;
        const index_t value = at + s * value_width;
        if (dweights)
          dweights[row + s] = weight == 0 ? 0 : static_cast<real>(level().reduce.dot(up, v + value, value_width));
        if (dv && weight != 0) level().elementwise.scaled(up, weight, dv + value, true, value_width);
      }
    }
  });
}

void best_keys(const Visibility& see, index_t width, const real* q, const real* k, index_t* choice) {
  for_each_head(see, [&](index_t b, index_t h, index_t key_head) {
    const Scratch<real> scores(see.keys);
    for (index_t t = 0; t < see.queries; ++t) {
      const index_t row = (b * see.heads + h) * see.queries + t, reach = see.in_reach(t);
      gemm(1, reach, width, 1, {q + row * width, width},
           {head_rows(k, b, see.key_heads, key_head, see.keys, width), width, true}, 0, scores.data(), see.keys);
      index_t best = -1;
      for (index_t s = 0; s < reach; ++s)
        if (!see.hides(b, t, s) && (best < 0 || scores[s] > scores[best])) best = s;
      choice[row] = best;
    }
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
