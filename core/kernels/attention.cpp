#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/attention.hpp>
#include <xtape/core/kernels/gemm.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/scratch.hpp>

#include <algorithm>
#include <limits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

/// Queries in a block, at most. The backward function sums over the queries of a block, so longer blocks pay there.
constexpr index_t kForwardRows = 64, kBackwardRows = 96;

/// A block of queries of one head; `keys` is how many leading keys any of them attends to.
struct Block {
  index_t b, h, first, rows, keys;
};

Block block_at(const AttentionProblem& p, index_t b, index_t h, index_t first, index_t most_rows) {
  const index_t rows = std::min(most_rows, p.queries - first);
  return {b, h, first, rows, p.causal_limit(first + rows - 1)};
}

/// Sets the scores of hidden keys among the first `visible` of row i to minus infinity.
void hide(const AttentionProblem& p, const Block& block, index_t i, index_t visible, real* scores) {
  constexpr real minus_infinity = -std::numeric_limits<real>::infinity();
  const bool* padding = offset_pointer(p.padding, block.b * p.keys);
  const bool* hidden = offset_pointer(p.hidden, block.b * p.hidden_batch + (block.first + i) * p.keys);
  for (index_t j = 0; padding && j < visible; ++j)
    if (padding[j]) scores[j] = minus_infinity;
  for (index_t j = 0; hidden && j < visible; ++j)
    if (hidden[j]) scores[j] = minus_infinity;
}

bool all_finite(MatrixView x, index_t rows, index_t width) {
  return isa().attention.rows_finite(x.data, x.stride, rows, width);
}

/// x [rows, width] packed, with zeros for rows that are not finite, so that 0 times such a row is 0. See
/// `add_weighted`.
PackedMatrix pack_finite(MatrixView x, index_t rows, index_t width) {
  if (all_finite(x, rows, width)) return PackedMatrix(x, rows, width);
  const Scratch<real> clean(rows * width);
  for (index_t r = 0; r < rows; ++r) {
    const real* row = x.data + r * x.stride;
    if (isa().reduce.all_finite(row, width)) std::copy_n(row, width, clean.data() + r * width);
    else std::fill_n(clean.data() + r * width, width, real(0));
  }
  return PackedMatrix({clean.data(), width}, rows, width);
}

/// Rows of one head from row t on.
MatrixView matrix_of(HeadsIn x, index_t b, index_t h, index_t t = 0) { return {x.at(b, h, t), x.row}; }

MatrixView transpose_of(MatrixView x) { return {x.data, x.stride, !x.transposed}; }

/// Keys and values of one head, packed once for all blocks of queries.
struct Packed {
  MatrixView k, v;
  PackedMatrix keys_across;  // k^T, for scores
  PackedMatrix values;       // v in the forward pass, v^T in the backward
  PackedMatrix keys;         // k, for dq; empty in the forward pass
  bool finite_keys, finite_values;

  Packed(const AttentionProblem& p, index_t b, index_t key_head, bool backward)
      : k(matrix_of(p.k, b, key_head)),
        v(matrix_of(p.v, b, key_head)),
        keys_across(transpose_of(k), p.width, p.keys),
        values(backward ? PackedMatrix(transpose_of(v), p.value_width, p.keys) : pack_finite(v, p.keys, p.value_width)),
        keys(pack_finite(k, backward ? p.keys : 0, p.width)),
        finite_keys(!backward || all_finite(k, p.keys, p.width)),
        finite_values(backward || all_finite(v, p.keys, p.value_width)) {}
};

/// The layout of a block's scores. A row is an odd multiple of the lanes, so that rows do not map to the same sets of
/// the L1 cache.
ScoreRows score_rows(const AttentionProblem& p, const Block& block) {
  const index_t lanes = isa().attention.lanes, groups = (block.keys + lanes - 1) / lanes;
  const index_t first_visible = p.causal ? block.first + 1 + p.keys - p.queries : block.keys;
  return {block.rows, block.keys, (groups | 1) * lanes, first_visible, p.causal ? 1 : 0, lanes};
}

/// What gemm may skip if the scores of a block are that operand.
CausalSkip skip_of(const AttentionProblem& p, const ScoreRows& rows, CausalSkip::Operand operand) {
  return p.causal ? CausalSkip{operand, rows.first_visible} : CausalSkip{};
}

void scores_of(const AttentionProblem& p, const Block& block, const Packed& packed, const ScoreRows& rows,
               real* scores) {
  gemm({block.rows, block.keys, p.width}, matrix_of(p.q, block.b, block.h, block.first), packed.keys_across,
       {scores, rows.stride}, {.alpha = p.scale}, skip_of(p, rows, CausalSkip::Operand::c));
  for (index_t i = 0; (p.padding || p.hidden) && i < block.rows; ++i)
    hide(p, block, i, rows.visible(i), scores + i * rows.stride);
}

/// Dropout factors of a block: 1/(1-p) for kept weights, 0 for dropped ones; null without dropout.
const real* drop_factors(const AttentionProblem& p, const Block& block, index_t stride, std::uint32_t* words,
                         real* factors) {
  if (!p.drop_below) return nullptr;
  for (index_t i = 0; i < block.rows; ++i) {
    p.bits(p.bits_context, (block.b * p.heads + block.h) * p.queries + block.first + i, words, block.keys);
    for (index_t j = 0; j < block.keys; ++j) factors[i * stride + j] = words[j] >= p.drop_below ? p.keep_scale : 0;
    std::fill(factors + i * stride + block.keys, factors + (i + 1) * stride, real(0));
  }
  return factors;
}

/// Weights [rows, count] of values [count, width], or of values [rows, width] if the weights are used transposed.
struct WeightedRows {
  index_t rows, count, width;
  MatrixView weights, values;
  CausalSkip skip;

  /// out += weight (i, j) * value for one row of values. A weight of exactly 0 contributes nothing.
  void add(index_t i, index_t j, const real* value, real* out) const {
    const real w = weights.data[i * weights.stride + j];
    for (index_t c = 0; w != 0 && c < width; ++c) out[c] += w * value[c];
  }
};

/// out = weights * values + beta * out. A weight of exactly 0 contributes nothing, even if its value row holds NaN or
/// infinity. `packed` holds zeros in place of such rows; the loop below adds them where the weight is not 0. Finite
/// rows give the same bits with or without them.
void add_weighted(const WeightedRows& in, const PackedMatrix& packed, bool finite, real beta, MatrixOut out) {
  gemm({in.rows, in.width, in.count}, in.weights, packed, out, {.beta = beta}, in.skip);
  for (index_t j = 0; !finite && j < in.count; ++j) {
    const real* value = in.values.data + j * in.values.stride;
    if (isa().reduce.all_finite(value, in.width)) continue;
    for (index_t i = 0; i < in.rows; ++i) in.add(i, j, value, out.data + i * out.stride);
  }
}

/// out = weights^T * values + beta * out for beta 0 or 1, with the same rule for weights of 0.
void add_weighted_transposed(const WeightedRows& in, real beta, MatrixOut out) {
  if (all_finite(in.values, in.rows, in.width))
    return gemm({in.count, in.width, in.rows}, transpose_of(in.weights), in.values, out, {.beta = beta}, in.skip);
  for (index_t j = 0; beta == 0 && j < in.count; ++j) std::fill_n(out.data + j * out.stride, in.width, real(0));
  for (index_t i = 0; i < in.rows; ++i)
    for (index_t j = 0; j < in.count; ++j)
      in.add(i, j, in.values.data + i * in.values.stride, out.data + j * out.stride);
}

/// Buffers of one task.
struct Workspace {
  Scratch<real> weights, gradients, factors, row_values;
  Scratch<std::uint32_t> words;

  Workspace(const AttentionProblem& p, index_t rows, bool backward)
      : weights(size(p, rows)),
        gradients(backward ? size(p, rows) : 0),
        factors(p.drop_below ? size(p, rows) : 0),
        row_values(rows),
        words(p.drop_below ? p.keys : 0) {}

  /// Elements of the scores of a block of up to `rows` rows.
  static index_t size(const AttentionProblem& p, index_t rows) {
    return std::min(rows, p.queries) * (p.keys + 2 * isa().attention.lanes);
  }
};

index_t row_index(const AttentionProblem& p, const Block& block) {
  return (block.b * p.heads + block.h) * p.queries + block.first;
}

void forward_block(const AttentionProblem& p, const Block& block, const Packed& packed, Workspace& work, HeadsOut out,
                   SoftmaxRow* sums) {
  const ScoreRows rows = score_rows(p, block);
  real* scores = work.weights.data();
  real* inverse_sums = work.row_values.data();
  real* to = out.at(block.b, block.h, block.first).data;
  scores_of(p, block, packed, rows, scores);
  const real* factors = drop_factors(p, block, rows.stride, work.words.data(), work.factors.data());
  isa().attention.weights(rows, scores, factors, sums + row_index(p, block), inverse_sums);
  add_weighted({block.rows,
                block.keys,
                p.value_width,
                {scores, rows.stride},
                packed.v,
                skip_of(p, rows, CausalSkip::Operand::a)},
               packed.values, packed.finite_values, 0, {to, out.row});
  isa().attention.scale_rows(to, out.row, inverse_sums, block.rows, p.value_width);
}

/// Makes the scores of queries without an upstream gradient minus infinity: they contribute nothing, even if NaN.
void drop_unused_queries(const ScoreRows& rows, const real* upstream, index_t stride, index_t width, real* scores) {
  for (index_t r = 0; r < rows.rows; ++r)
    if (std::all_of(upstream + r * stride, upstream + r * stride + width, [](real x) { return x == 0; }))
      std::fill_n(scores + r * rows.stride, rows.visible(r), -std::numeric_limits<real>::infinity());
}

/// Computes the weights of the block after dropout in work.weights, and d loss / d (q k^T) in work.gradients:
/// scale * w * (factor * (dout v^T) - sum(dout * out)) by elements, with w the weights before dropout.
ScoreRows score_gradients(const AttentionProblem& p, const Block& block, HeadsIn out, const SoftmaxRow* sums,
                          HeadsIn upstream, const Packed& packed, Workspace& work) {
  const ScoreRows rows = score_rows(p, block);
  const real* up = upstream.at(block.b, block.h, block.first);
  const real* result = out.at(block.b, block.h, block.first);
  scores_of(p, block, packed, rows, work.weights.data());
  drop_unused_queries(rows, up, upstream.row, p.value_width, work.weights.data());
  gemm({block.rows, block.keys, p.value_width}, {up, upstream.row}, packed.values, {work.gradients.data(), rows.stride},
       {}, skip_of(p, rows, CausalSkip::Operand::c));
  isa().attention.row_dots(up, upstream.row, result, out.row, block.rows, p.value_width, work.row_values.data());
  const real* factors = drop_factors(p, block, rows.stride, work.words.data(), work.factors.data());
  isa().attention.score_gradients(rows, work.weights.data(), factors, sums + row_index(p, block),
                                  work.row_values.data(), p.scale, work.gradients.data());
  return rows;
}

/// All gradients of the heads that share one key head.
void backward_group(const AttentionProblem& p, index_t b, index_t key_head, HeadsIn out, const SoftmaxRow* sums,
                    HeadsIn upstream, const AttentionGradients& g) {
  const Packed packed(p, b, key_head, true);
  Workspace work(p, kBackwardRows, true);
  const Output dk = g.dk.at(b, key_head), dv = g.dv.at(b, key_head);
  real beta_k = dk.beta(), beta_v = dv.beta();
  for (index_t h = key_head * p.group(); h < (key_head + 1) * p.group(); ++h) {
    // The last block first: it attends to all keys, and so writes all of dk and dv.
    for (index_t first = (p.queries - 1) / kBackwardRows * kBackwardRows; first >= 0; first -= kBackwardRows) {
      const Block block = block_at(p, b, h, first, kBackwardRows);
      const ScoreRows scores = score_gradients(p, block, out, sums, upstream, packed, work);
      const MatrixView weights{work.weights.data(), scores.stride}, gradients{work.gradients.data(), scores.stride};
      const CausalSkip across = skip_of(p, scores, CausalSkip::Operand::transposed_a);
      if (const Output dq = g.dq.at(b, h, first); dq.data)
        add_weighted({block.rows, block.keys, p.width, gradients, packed.k, skip_of(p, scores, CausalSkip::Operand::a)},
                     packed.keys, packed.finite_keys, dq.beta(), {dq.data, g.dq.row});
      if (dk.data)
        add_weighted_transposed({block.rows, block.keys, p.width, gradients, matrix_of(p.q, b, h, first), across},
                                beta_k, {dk.data, g.dk.row});
      if (dv.data)
        add_weighted_transposed(
            {block.rows, block.keys, p.value_width, weights, matrix_of(upstream, b, h, first), across}, beta_v,
            {dv.data, g.dv.row});
      beta_k = beta_v = 1;
    }
  }
}

}  // namespace

void attention(const AttentionProblem& p, HeadsOut out, SoftmaxRow* sums) {
  parallel_for(p.batches * p.heads, [&](index_t task) {
    const index_t b = task / p.heads, h = task % p.heads;
    const Packed packed(p, b, h / p.group(), false);
    Workspace work(p, kForwardRows, false);
    for (index_t first = 0; first < p.queries; first += kForwardRows)
      forward_block(p, block_at(p, b, h, first, kForwardRows), packed, work, out, sums);
  });
}

void attention_backward(const AttentionProblem& p, HeadsIn out, const SoftmaxRow* sums, HeadsIn upstream,
                        const AttentionGradients& gradients) {
  parallel_for(p.batches * p.key_heads, [&](index_t task) {
    backward_group(p, task / p.key_heads, task % p.key_heads, out, sums, upstream, gradients);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
