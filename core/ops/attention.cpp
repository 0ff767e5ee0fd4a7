#include <xtape/core/error.hpp>
#include <xtape/core/kernels/attention.hpp>
#include <xtape/core/ops/attention.hpp>
#include <xtape/core/ops/dropout.hpp>
#include <xtape/core/ops/internal/attention_sizes.hpp>
#include <xtape/core/ops/internal/attention_statistics.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>
#include <xtape/core/ops/mask.hpp>
#include <xtape/core/random.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using kernels::AttentionProblem;
using kernels::HeadsIn;

void attention_bits(const void* context, index_t row, std::uint32_t* words, index_t count) {
  const auto& key = *static_cast<const RandomKey*>(context);
  random_bits(key.seed, substream(substream(key.stream, key.call), static_cast<std::uint64_t>(row)), 0,
              {words, static_cast<std::size_t>(count)});
}

/// Sizes, scale and masks; the operands' pointers are set by `bind` at each use.
struct Plan {
  AttentionProblem problem = {};
  Mask padding = {}, hidden = {};
  RandomKey key = {};

  /// The problem with pointers into this plan, whatever it was moved to.
  AttentionProblem bound(HeadsIn q, HeadsIn k, HeadsIn v) const {
    AttentionProblem p = problem;
    p.padding = data_or_null(padding);
    p.hidden = data_or_null(hidden);
    p.bits = attention_bits;
    p.bits_context = &key;
    p.q = q;
    p.k = k;
    p.v = v;
    return p;
  }
};

/// Throws ValueError, or ShapeError for a mask.
Plan make_plan(const char* op, const AttentionSizes& sizes, const AttentionOptions& o) {
  check_probability(op, o.dropout);
  if (Probe* probe = Probe::active(); probe && o.dropout > 0) probe->dropout(o.dropout);
  check_masks(op, sizes, o.key_padding, o.mask);
  Plan plan{{}, o.key_padding, o.mask, o.dropout_key};
  AttentionProblem& p = plan.problem;
  sizes.set(p, &AttentionProblem::width);
  p.scale = attention_scale(op, o.scale, p.width);
  p.causal = o.causal;
  p.drop_below = static_cast<std::uint64_t>(o.dropout * 0x1p32);
  p.keep_scale = o.dropout == 1 ? 0 : static_cast<real>(1 / (1 - o.dropout));
  p.hidden_batch = o.mask.dimension() == 3 ? p.queries * p.keys : 0;
  return plan;
}

/// Rows of a contiguous [B, H, T, D] array.
template <class Data>
kernels::HeadRows<Data> by_heads(Data data, index_t heads, index_t rows, index_t width) {
  return {data, heads * rows * width, rows * width, width};
}

/// Rows of head-wide columns from `column` on in a [B, T, columns] array.
template <class Data>
kernels::HeadRows<Data> in_columns(Data data, index_t rows, index_t columns, index_t column, index_t width) {
  return {offset_pointer(data, column), rows * columns, width, columns};
}

/// The problem over separate [B, H, T, D] operands.
AttentionProblem over_heads(const Plan& plan, const Tensor& q, const Tensor& k, const Tensor& v) {
  const AttentionProblem& p = plan.problem;
  return plan.bound(by_heads(q.data(), p.heads, p.queries, p.width), by_heads(k.data(), p.key_heads, p.keys, p.width),
                    by_heads(v.data(), p.key_heads, p.keys, p.value_width));
}

/// Rows of q (which = 0), k (1) or v (2) in a packed [B, T, 3C] array.
template <class Data>
kernels::HeadRows<Data> packed_part(Data data, const AttentionProblem& p, index_t which) {
  const index_t width = p.heads * p.width;
  return in_columns(data, p.queries, 3 * width, which * width, p.width);
}

/// The problem over packed projections.
AttentionProblem over_packed(const Plan& plan, const Tensor& qkv) {
  const AttentionProblem& p = plan.problem;
  return plan.bound(packed_part(qkv.data(), p, 0), packed_part(qkv.data(), p, 1), packed_part(qkv.data(), p, 2));
}

using SoftmaxRows = std::vector<kernels::SoftmaxRow, PoolAllocator<kernels::SoftmaxRow>>;

SoftmaxRows rows_for(const AttentionSizes& p) { return SoftmaxRows(p.batches * p.heads * p.queries); }

}  // namespace

real attention_scale(const char* op, double scale, index_t width) {
  if (!(scale >= 0) || std::isinf(scale))
    throw ValueError(op, "a scale that is positive and finite, or 0 for 1/sqrt(D)", scale);
  return static_cast<real>(scale > 0 ? scale : 1 / std::sqrt(static_cast<double>(std::max<index_t>(1, width))));
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  constexpr const char* op = "scaled_dot_product_attention";
  const AttentionSizes sizes = attention_sizes(op, q.shape(), k.shape(), v.shape());
  Plan plan = make_plan(op, sizes, options);
  Array out = empty_array({sizes.batches, sizes.heads, sizes.queries, sizes.value_width});
  SoftmaxRows sums = rows_for(sizes);
  kernels::attention(over_heads(plan, q, k, v),
                     by_heads(Output{out.data()}, sizes.heads, sizes.queries, sizes.value_width), sums.data());
  if (Probe* probe = Probe::active()) probe->attention(summary_of(over_heads(plan, q, k, v), sums.data()));
  const Tensor y(std::move(out));
  return Tape::record(op, {q, k, v}, y,
                      [plan = std::move(plan), q = q.detach(), k = k.detach(), v = v.detach(), y,
                       sums = std::move(sums)](const Array& dy, Grads& g) {
                        const AttentionProblem p = over_heads(plan, q, k, v);
                        Output dq = g.buffer_if_needed(0), dk = g.buffer_if_needed(1), dv = g.buffer_if_needed(2);
                        if (!dq.add && dq.data && (dq.data == dk.data || dq.data == dv.data)) {
                          // One tensor is query and key or value: blocks of dq must not overwrite what the others have
                          // added.
                          kernels::fill(dq.data, 0, q.numel());
                          dq.add = true;
                        }
                        kernels::attention_backward(
                            p, by_heads(y.data(), p.heads, p.queries, p.value_width), sums.data(),
                            by_heads(dy.data(), p.heads, p.queries, p.value_width),
                            {by_heads(dq, p.heads, p.queries, p.width), by_heads(dk, p.key_heads, p.keys, p.width),
                             by_heads(dv, p.key_heads, p.keys, p.value_width)});
                      });
}

Tensor self_attention(const Tensor& qkv, index_t heads, const AttentionOptions& options) {
  constexpr const char* op = "self_attention";
  if (heads < 1) throw ValueError(op, "at least 1 head", heads);
  if (qkv.rank() != 3 || qkv.size(2) % 3 != 0 || qkv.size(2) / 3 % heads != 0)
    throw ShapeError(op, "qkv [B, T, 3C] with C a multiple of the " + std::to_string(heads) + " heads", qkv.shape());
  const index_t time = qkv.size(1), width = qkv.size(2) / 3, head = width / heads;
  const AttentionSizes sizes = {qkv.size(0), heads, heads, time, time, head, head};
  Plan plan = make_plan(op, sizes, options);
  Array out = empty_array({sizes.batches, time, width});
  SoftmaxRows sums = rows_for(sizes);
  kernels::attention(over_packed(plan, qkv), in_columns(Output{out.data()}, time, width, 0, head), sums.data());
  if (Probe* probe = Probe::active()) probe->attention(summary_of(over_packed(plan, qkv), sums.data()));
  const Tensor y(std::move(out));
  return Tape::record(
      op, {qkv}, y,
      [plan = std::move(plan), width, qkv = qkv.detach(), y, sums = std::move(sums)](const Array& dy, Grads& g) {
        const AttentionProblem p = over_packed(plan, qkv);
        const Output to = g.buffer(0);
        kernels::attention_backward(p, in_columns(y.data(), p.queries, width, 0, p.width), sums.data(),
                                    in_columns(dy.data(), p.queries, width, 0, p.width),
                                    {packed_part(to, p, 0), packed_part(to, p, 1), packed_part(to, p, 2)});
      });
}

}  // namespace xtape::inline XTAPE_DTYPE
