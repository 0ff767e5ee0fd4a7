#include <xtape/core/kernels/attention.hpp>
#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/levels/levels.hpp>
#include <xtape/core/kernels/scratch.hpp>
#include <xtape/core/kernels/threads.hpp>

#include <algorithm>
#include <limits>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

namespace {

constexpr index_t kRows = 64;  // queries of one block

/// A block of queries of one head, and the keys that any of them can see.
struct Block {
  index_t b, h, first, rows, keys;
};

index_t visible_keys(const AttentionProblem& p, index_t query) {
  return p.causal ? std::clamp<index_t>(query + 1 + p.keys - p.queries, 0, p.keys) : p.keys;
}

Block block_at(const AttentionProblem& p, index_t b, index_t h, index_t first) {
  const index_t rows = std::min(kRows, p.queries - first);
  return {b, h, first, rows, visible_keys(p, first + rows - 1)};
}

const bool* hidden_row(const AttentionProblem& p, const Block& block, index_t i) {
  return p.hidden ? p.hidden + block.b * p.hidden_batch + (block.first + i) * p.keys : nullptr;
}

/// Scores of hidden keys among the first `visible` of row i become minus infinity.
void hide(const AttentionProblem& p, const Block& block, index_t i, index_t visible, real* scores) {
  constexpr real minus_infinity = -std::numeric_limits<real>::infinity();
  const bool* padding = p.padding ? p.padding + block.b * p.keys : nullptr;
  const bool* hidden = hidden_row(p, block, i);
  for (index_t j = 0; padding && j < visible; ++j)
    if (padding[j]) scores[j] = minus_infinity;
  for (index_t j = 0; hidden && j < visible; ++j)
    if (hidden[j]) scores[j] = minus_infinity;
}

bool all_finite(const real* x, index_t rows, index_t width, index_t stride) {
  for (index_t r = 0; r < rows; ++r)
    if (!level().reduce.all_finite(x + r * stride, width)) return false;
  return true;
}

/// Rows packed as a factor [rows, width], those that are not finite as zeros: 0 times them is 0 then. See `mix`.
PackedFactor pack_finite(const real* x, index_t rows, index_t width, index_t stride) {
  if (all_finite(x, rows, width, stride)) return PackedFactor({x, stride}, rows, width);
  const Scratch<real> clean(rows * width);
  for (index_t r = 0; r < rows; ++r) {
    if (level().reduce.all_finite(x + r * stride, width)) std::copy_n(x + r * stride, width, clean.data() + r * width);
    else std::fill_n(clean.data() + r * width, width, real(0));
  }
  return PackedFactor({clean.data(), width}, rows, width);
}

/// Keys and values of one head, packed once for all blocks of queries.
struct Packed {
  PackedFactor keys_across;  // k^T, for scores
  PackedFactor values;       // v in the forward pass, v^T in the backward
  PackedFactor keys;         // k, for dq; empty in the forward pass
  bool finite_keys, finite_values;

  Packed(const AttentionProblem& p, index_t b, index_t key_head, bool backward)
      : keys_across({p.k.at(b, key_head), p.k.row, true}, p.width, p.keys),
        values(backward ? PackedFactor({p.v.at(b, key_head), p.v.row, true}, p.value_width, p.keys)
                        : pack_finite(p.v.at(b, key_head), p.keys, p.value_width, p.v.row)),
        keys(pack_finite(p.k.at(b, key_head), backward ? p.keys : 0, p.width, p.k.row)),
        finite_keys(!backward || all_finite(p.k.at(b, key_head), p.keys, p.width, p.k.row)),
        finite_values(backward || all_finite(p.v.at(b, key_head), p.keys, p.value_width, p.v.row)) {}
};

void scores_of(const AttentionProblem& p, const Block& block, const Packed& packed, real* scores) {
  gemm(block.rows, block.keys, p.width, p.scale, {p.q.at(block.b, block.h) + block.first * p.q.row, p.q.row},
       packed.keys_across, 0, scores, block.keys);
}

/// Dropout factors of a row: 1/(1-p) where kept, 0 where dropped.
void drop_factors(const AttentionProblem& p, const Block& block, index_t i, std::uint32_t* words, real* factors) {
  p.bits(p.bits_context, (block.b * p.heads + block.h) * p.queries + block.first + i, words, block.keys);
  for (index_t j = 0; j < block.keys; ++j) factors[j] = words[j] >= p.drop_below ? p.keep_scale : 0;
}

/// out (+)= weights values, where an exactly zero weight takes nothing, not even NaN, from its value, and no bit
/// depends on it: rows that are not finite stand in `packed` as zeros, and are added to those who see them.
void mix(index_t rows, index_t count, index_t width, const real* weights, index_t stride, const PackedFactor& packed,
         const real* values, index_t value_stride, bool finite, real beta, real* out, index_t out_stride) {
  gemm(rows, width, count, 1, {weights, stride}, packed, beta, out, out_stride);
  for (index_t j = 0; !finite && j < count; ++j) {
    const real* value = values + j * value_stride;
    if (level().reduce.all_finite(value, width)) continue;
    for (index_t i = 0; i < rows; ++i) {
      const real w = weights[i * stride + j];
      for (index_t c = 0; w != 0 && c < width; ++c) out[i * out_stride + c] += w * value[c];
    }
  }
}

/// out += weights^T values for weights [rows, count], with the same care.
void spread(index_t rows, index_t count, index_t width, const real* weights, const real* values, index_t value_stride,
            real* out, index_t out_stride) {
  if (all_finite(values, rows, width, value_stride))
    return gemm(count, width, rows, 1, {weights, count, true}, {values, value_stride}, 1, out, out_stride);
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < count; ++j) {
      const real w = weights[i * count + j];
      for (index_t c = 0; w != 0 && c < width; ++c) out[j * out_stride + c] += w * values[i * value_stride + c];
    }
  }
}

/// Buffers of one task.
struct Workspace {
  Scratch<real> weights, slopes, factors;
  Scratch<std::uint32_t> words;

  Workspace(const AttentionProblem& p, bool backward)
      : weights(std::min(kRows, p.queries) * p.keys),
        slopes(backward ? std::min(kRows, p.queries) * p.keys : 0),
        factors(p.drop_below ? p.keys : 0),
        words(p.drop_below ? p.keys : 0) {}
};

void forward_block(const AttentionProblem& p, const Block& block, const Packed& packed, Workspace& work, HeadsOut out,
                   real* log_sums) {
  real* scores = work.weights.data();
  scores_of(p, block, packed, scores);
  for (index_t i = 0; i < block.rows; ++i) {
    real* row = scores + i * block.keys;
    const index_t visible = visible_keys(p, block.first + i);
    hide(p, block, i, visible, row);
    log_sums[(block.b * p.heads + block.h) * p.queries + block.first + i] = level().softmax.softmax(row, row, visible);
    std::fill(row + visible, row + block.keys, real(0));
    if (p.drop_below) {
      drop_factors(p, block, i, work.words.data(), work.factors.data());
      for (index_t j = 0; j < block.keys; ++j) row[j] *= work.factors[j];
    }
  }
  const index_t key_head = block.h / (p.heads / p.key_heads);
  mix(block.rows, block.keys, p.value_width, scores, block.keys, packed.values, p.v.at(block.b, key_head), p.v.row,
      packed.finite_values, 0, out.at(block.b, block.h) + block.first * out.row, out.row);
}

/// Weights of the block after dropout in `weights`, d loss / d (q k^T) in `slopes`:
/// scale w o (factor o (dout v^T) - sum(dout o out)), w the weights before dropout.
void slopes_of(const AttentionProblem& p, const Block& block, HeadsIn out, const real* log_sums, HeadsIn upstream,
               const Packed& packed, Workspace& work) {
  const real* up = upstream.at(block.b, block.h) + block.first * upstream.row;
  const real* result = out.at(block.b, block.h) + block.first * out.row;
  scores_of(p, block, packed, work.weights.data());
  gemm(block.rows, block.keys, p.value_width, 1, {up, upstream.row}, packed.values, 0, work.slopes.data(), block.keys);
  for (index_t i = 0; i < block.rows; ++i) {
    real* w = work.weights.data() + i * block.keys;
    real* s = work.slopes.data() + i * block.keys;
    const index_t visible = visible_keys(p, block.first + i);
    hide(p, block, i, visible, w);
    level().softmax.exp_shifted(w, log_sums[(block.b * p.heads + block.h) * p.queries + block.first + i], 1, 0, w,
                                false, visible);
    std::fill(w + visible, w + block.keys, real(0));
    const real m = static_cast<real>(level().reduce.dot(up + i * upstream.row, result + i * out.row, p.value_width));
    if (p.drop_below) {
      drop_factors(p, block, i, work.words.data(), work.factors.data());
      for (index_t j = 0; j < block.keys; ++j) {
        const real factor = work.factors[j];
        s[j] = w[j] == 0 ? 0 : p.scale * w[j] * ((factor == 0 ? 0 : factor * s[j]) - m);
        w[j] *= factor;
      }
    } else {
      level().softmax.score_slopes(w, m, p.scale, s, block.keys);
    }
  }
}

void zero_rows(real* x, index_t rows, index_t width, index_t stride) {
  for (index_t r = 0; r < rows; ++r) std::fill(x + r * stride, x + r * stride + width, real(0));
}

/// All gradients of the heads that share one key head.
void backward_group(const AttentionProblem& p, index_t b, index_t key_head, HeadsIn out, const real* log_sums,
                    HeadsIn upstream, const AttentionGradients& g) {
  const index_t group = p.heads / p.key_heads;
  const Packed packed(p, b, key_head, true);
  Workspace work(p, true);
  if (g.dk.data && !g.accumulate_k) zero_rows(g.dk.at(b, key_head), p.keys, p.width, g.dk.row);
  if (g.dv.data && !g.accumulate_v) zero_rows(g.dv.at(b, key_head), p.keys, p.value_width, g.dv.row);
  for (index_t h = key_head * group; h < (key_head + 1) * group; ++h) {
    for (index_t first = 0; first < p.queries; first += kRows) {
      const Block block = block_at(p, b, h, first);
      slopes_of(p, block, out, log_sums, upstream, packed, work);
      if (g.dq.data) {
        real* dq = g.dq.at(b, h) + first * g.dq.row;
        mix(block.rows, block.keys, p.width, work.slopes.data(), block.keys, packed.keys, p.k.at(b, key_head), p.k.row,
            packed.finite_keys, g.accumulate_q ? real(1) : real(0), dq, g.dq.row);
      }
      if (g.dk.data)
        spread(block.rows, block.keys, p.width, work.slopes.data(), p.q.at(b, h) + first * p.q.row, p.q.row,
               g.dk.at(b, key_head), g.dk.row);
      if (g.dv.data)
        spread(block.rows, block.keys, p.value_width, work.weights.data(), upstream.at(b, h) + first * upstream.row,
               upstream.row, g.dv.at(b, key_head), g.dv.row);
    }
  }
}

}  // namespace

void attention(const AttentionProblem& p, HeadsOut out, real* log_sums) {
  parallel_for(p.batches * p.heads, [&](index_t task) {
    const index_t b = task / p.heads, h = task % p.heads;
    const Packed packed(p, b, h / (p.heads / p.key_heads), false);
    Workspace work(p, false);
    for (index_t first = 0; first < p.queries; first += kRows)
      forward_block(p, block_at(p, b, h, first), packed, work, out, log_sums);
  });
}

void attention_backward(const AttentionProblem& p, HeadsIn out, const real* log_sums, HeadsIn upstream,
                        const AttentionGradients& gradients) {
  parallel_for(p.batches * p.key_heads, [&](index_t task) {
    backward_group(p, task / p.key_heads, task % p.key_heads, out, log_sums, upstream, gradients);
  });
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
