#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/score_attention.hpp>
#include <xtape/core/kernels/softmax.hpp>
#include <xtape/core/ops/dropout.hpp>
#include <xtape/core/ops/internal/attention_sizes.hpp>
#include <xtape/core/ops/mask.hpp>
#include <xtape/core/ops/score_attention.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

using kernels::AttentionMask;

/// Sizes and masks, kept by the backward functions.
struct View {
  AttentionMask sizes = {};
  Mask padding, hidden;

  AttentionMask bound() const {
    AttentionMask mask = sizes;
    mask.padding = data_or_null(padding);
    mask.hidden = data_or_null(hidden);
    return mask;
  }
};

/// Throws ShapeError for a mask that does not fit.
View view_of(const char* op, const AttentionSizes& s, const AttentionOptions& o) {
  check_masks(op, s, o.key_padding, o.mask);
  const index_t hidden_batch = o.mask.dimension() == 3 ? s.queries * s.keys : 0;
  return {{s.batches, s.heads, s.key_heads, s.queries, s.keys, o.causal, nullptr, nullptr, hidden_batch},
          o.key_padding,
          o.mask};
}

/// Of scores [B, H, T, S] and v [B, H', S, V]; the width is 0. Throws ShapeError.
AttentionSizes score_sizes(const char* op, const Tensor& scores, const Tensor& v) {
  if (scores.rank() != 4 || v.rank() != 4 || v.size(0) != scores.size(0) || v.size(2) != scores.size(3) ||
      v.size(1) == 0 || scores.size(1) % v.size(1) != 0)
    throw ShapeError(op, "scores [B, H, T, S] and v [B, H', S, V] with H a multiple of H'", scores.shape(), v.shape());
  return {scores.size(0), scores.size(1), v.size(1), scores.size(2), scores.size(3), 0, v.size(3)};
}

/// The gradient buffer of an input to add to; null if no gradient is needed.
real* added_to(Grads& g, index_t input) { return g.needs(input) ? g.cleared_buffer(input).data : nullptr; }

}  // namespace

Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& w, const AttentionOptions& options) {
  constexpr const char* op = "additive_scores";
  const AttentionSizes sizes = attention_sizes(op, q.shape(), k.shape());
  check_shape(op, "w", w.shape(), Shape{sizes.heads, sizes.width});
  View view = view_of(op, sizes, options);
  Array scores = empty_array({sizes.batches, sizes.heads, sizes.queries, sizes.keys});
  kernels::additive_scores({view.bound(), q.size(3), q.data(), k.data(), w.data()}, scores.data());
  return Tape::record(
      op, {q, k, w}, Tensor(std::move(scores)),
      [view = std::move(view), q = q.detach(), k = k.detach(), w = w.detach()](const Array& dy, Grads& g) {
        // The kernel writes all three gradients; those that are not needed go to a scratch array.
        Array spare_q, spare_k, spare_w;
        const auto place = [&](index_t input, const Tensor& x, Array& spare) {
          if (real* to = added_to(g, input)) return to;
          spare = full_array(x.shape(), real(0));
          return spare.data();
        };
        real *dq = place(0, q, spare_q), *dk = place(1, k, spare_k), *dw = place(2, w, spare_w);
        kernels::additive_scores_backward({view.bound(), q.size(3), q.data(), k.data(), w.data()}, dy.data(), dq, dk,
                                          dw);
      });
}

Tensor attention_from_scores(const Tensor& scores, const Tensor& v, const AttentionOptions& options) {
  constexpr const char* op = "attention_from_scores";
  check_probability(op, options.dropout);
  View view = view_of(op, score_sizes(op, scores, v), options);
  Array weights = empty_array(scores.shape());
  kernels::masked_softmax(view.bound(), scores.data(), weights.data());
  const Tensor kept_weights(std::move(weights));
  const Tensor dropped = dropout(kept_weights, options.dropout, options.dropout_key);
  Array out = empty_array({scores.size(0), scores.size(1), scores.size(2), v.size(3)});
  kernels::attention_values(view.bound(), v.size(3), dropped.data(), v.data(), out.data());
  return Tape::record(op, {scores, v}, Tensor(std::move(out)),
                      [view = std::move(view), weights = kept_weights, dropped, v = v.detach(),
                       keep = 1 - options.dropout](const Array& dy, Grads& g) {
                        Array dweights;  // of the weights after dropout, then before it
                        if (g.needs(0)) dweights = empty_array(weights.shape());
                        kernels::attention_values_backward(view.bound(), v.size(3), dropped.data(), v.data(), dy.data(),
                                                           g.needs(0) ? dweights.data() : nullptr, added_to(g, 1));
                        if (!g.needs(0)) return;
                        // The gradient of a dropped weight is 0 already: the kernel skips weights of 0.
                        if (keep < 1)
                          kernels::scaled(dweights.data(), keep > 0 ? static_cast<real>(1 / keep) : 0,
                                          {dweights.data()}, weights.numel());
                        kernels::softmax_backward(weights.data(), dweights.data(), g.buffer(0),
                                                  weights.numel() / std::max<index_t>(1, weights.size(3)),
                                                  weights.size(3));
                      });
}

Tensor hard_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  constexpr const char* op = "hard_attention";
  const AttentionSizes sizes = attention_sizes(op, q.shape(), k.shape(), v.shape());
  const View view = view_of(op, sizes, options);
  const index_t group = sizes.heads / sizes.key_heads, queries = sizes.queries, width = sizes.value_width;
  IndexArray choice = empty_array<IndexArray>({sizes.batches, sizes.heads, queries});
  kernels::argmax_keys(view.bound(), q.size(3), q.data(), k.data(), choice.data());
  // For each query (a row of the output) the row of v that it copies, or -1.
  for (index_t row = 0; row < numel(choice); ++row)
    if (choice.data()[row] >= 0) choice.data()[row] += row / queries / group * sizes.keys;
  Array out = full_array({sizes.batches, sizes.heads, queries, width}, real(0));
  for (index_t row = 0; row < numel(choice); ++row)
    if (choice.data()[row] >= 0) std::copy_n(v.data() + choice.data()[row] * width, width, out.data() + row * width);
  return Tape::record(op, {q, k, v}, Tensor(std::move(out)),
                      [choice = std::move(choice), width](const Array& dy, Grads& g) {
                        added_to(g, 0);  // exactly zero, but given
                        added_to(g, 1);
                        real* dv = added_to(g, 2);
                        for (index_t row = 0; dv && row < numel(choice); ++row)
                          if (choice.data()[row] >= 0)
                            kernels::scaled(dy.data() + row * width, 1, {dv + choice.data()[row] * width, true}, width);
                      });
}

}  // namespace xtape::inline XTAPE_DTYPE
