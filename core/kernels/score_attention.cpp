#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/score_attention.hpp>
#include <xtape/core/kernels/scratch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

/// body(b, h, key head) for every head. One thread gets all heads of a key head, so that sums over them have a fixed
/// order.
template <class Body>
void for_each_head(const AttentionMask& mask, const Body& body) {
  parallel_for(mask.batches * mask.key_heads, [&](index_t task) {
    const index_t b = task / mask.key_heads, key_head = task % mask.key_heads;
    for (index_t h = key_head * mask.group(); h < (key_head + 1) * mask.group(); ++h) body(b, h, key_head);
  });
}

}  // namespace

void additive_scores(const AdditiveScores& in, real* scores) {
  const AttentionMask& mask = in.mask;
  const index_t width = in.width;
  for_each_head(mask, [&](index_t b, index_t h, index_t key_head) {
    const Scratch<real> sums(mask.keys * width);
    const real* keys = head_rows(in.k, b, mask.key_heads, key_head, mask.keys, width);
    for (index_t t = 0; t < mask.queries; ++t) {
      real* row = head_rows(scores, b, mask.heads, h, mask.queries, mask.keys) + t * mask.keys;
      const real* q = head_rows(in.q, b, mask.heads, h, mask.queries, width) + t * width;
      const index_t limit = mask.causal_limit(t);
      isa().score_attention.tanh_sums(q, keys, limit, width, sums.data());
      for (index_t s = 0; s < mask.keys; ++s)
        row[s] = s < limit && !mask.masked(b, t, s)
                     ? static_cast<real>(isa().reduce.dot(sums.data() + s * width, in.w + h * width, width))
                     : real(0);
    }
  });
}

void additive_scores_backward(const AdditiveScores& in, const real* upstream, real* dq, real* dk, real* dw) {
  const AttentionMask& mask = in.mask;
  const index_t width = in.width;
  const Scratch<real> partial(mask.batches * mask.heads * width);  // dw of each sequence
  std::fill_n(partial.data(), mask.batches * mask.heads * width, real(0));
  for_each_head(mask, [&](index_t b, index_t h, index_t key_head) {
    const Scratch<real> sum(width);
    const real* keys = head_rows(in.k, b, mask.key_heads, key_head, mask.keys, width);
    real* key_gradients = head_rows(dk, b, mask.key_heads, key_head, mask.keys, width);
    for (index_t t = 0; t < mask.queries; ++t) {
      const index_t at = ((b * mask.heads + h) * mask.queries + t) * width;
      const real* up = head_rows(upstream, b, mask.heads, h, mask.queries, mask.keys) + t * mask.keys;
      for (index_t s = 0; s < mask.causal_limit(t); ++s) {
        if (up[s] == 0 || mask.masked(b, t, s)) continue;
        isa().score_attention.tanh_sums(in.q + at, keys + s * width, 1, width, sum.data());
        isa().score_attention.tanh_sums_backward(up[s], sum.data(), in.w + h * width, width, dq + at,
                                                 key_gradients + s * width,
                                                 partial.data() + (b * mask.heads + h) * width);
      }
    }
  });
  for (index_t b = 0; b < mask.batches; ++b)
    for (index_t i = 0; i < mask.heads * width; ++i) dw[i] += partial[b * mask.heads * width + i];
}

void masked_softmax(const AttentionMask& mask, const real* scores, real* weights) {
  for_each_head(mask, [&](index_t b, index_t h, index_t) {
    for (index_t t = 0; t < mask.queries; ++t) {
      const index_t at = ((b * mask.heads + h) * mask.queries + t) * mask.keys, limit = mask.causal_limit(t);
      for (index_t s = 0; s < limit; ++s)
        weights[at + s] = mask.masked(b, t, s) ? -std::numeric_limits<real>::infinity() : scores[at + s];
      isa().softmax.softmax(weights + at, weights + at, limit);
      for (index_t s = 0; (mask.padding || mask.hidden) && s < limit; ++s)
        if (mask.masked(b, t, s)) weights[at + s] = 0;  // also beside a NaN
      std::fill(weights + at + limit, weights + at + mask.keys, real(0));
    }
  });
}

void attention_values(const AttentionMask& mask, index_t value_width, const real* weights, const real* v, real* out) {
  for_each_head(mask, [&](index_t b, index_t h, index_t key_head) {
    const real* values = head_rows(v, b, mask.key_heads, key_head, mask.keys, value_width);
    for (index_t t = 0; t < mask.queries; ++t) {
      const real* row = weights + ((b * mask.heads + h) * mask.queries + t) * mask.keys;
      real* to = out + ((b * mask.heads + h) * mask.queries + t) * value_width;
      std::fill_n(to, value_width, real(0));
      for (index_t s = 0; s < mask.causal_limit(t); ++s)
        if (row[s] != 0) isa().arithmetic.scaled(values + s * value_width, row[s], {to, true}, value_width);
    }
  });
}

void attention_values_backward(const AttentionMask& mask, index_t value_width, const real* weights, const real* v,
                               const real* upstream, real* dweights, real* dv) {
  for_each_head(mask, [&](index_t b, index_t h, index_t key_head) {
    const index_t at = (b * mask.key_heads + key_head) * mask.keys * value_width;
    for (index_t t = 0; t < mask.queries; ++t) {
      const index_t row = ((b * mask.heads + h) * mask.queries + t) * mask.keys;
      const real* up = upstream + ((b * mask.heads + h) * mask.queries + t) * value_width;
      const bool used = !std::all_of(up, up + value_width, [](real x) { return x == 0; });
      for (index_t s = 0; s < mask.keys; ++s) {
        const real weight = used && s < mask.causal_limit(t) ? weights[row + s] : 0;
        const index_t value = at + s * value_width;
        if (dweights)
          dweights[row + s] = weight == 0 ? 0 : static_cast<real>(isa().reduce.dot(up, v + value, value_width));
        if (dv && weight != 0) isa().arithmetic.scaled(up, weight, {dv + value, true}, value_width);
      }
    }
  });
}

void argmax_keys(const AttentionMask& mask, index_t width, const real* q, const real* k, index_t* choice) {
  for_each_head(mask, [&](index_t b, index_t h, index_t key_head) {
    const Scratch<real> scores(mask.keys);
    for (index_t t = 0; t < mask.queries; ++t) {
      const index_t row = (b * mask.heads + h) * mask.queries + t, limit = mask.causal_limit(t);
      gemm({1, limit, width}, {q + row * width, width},
           {head_rows(k, b, mask.key_heads, key_head, mask.keys, width), width, true}, {scores.data(), mask.keys});
      index_t best = -1;
      for (index_t s = 0; s < limit; ++s) {
        if (mask.masked(b, t, s) || (best >= 0 && scores[s] <= scores[best])) continue;
        if (best >= 0 && std::isnan(scores[best])) break;
        best = s;
      }
      choice[row] = best;
    }
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
