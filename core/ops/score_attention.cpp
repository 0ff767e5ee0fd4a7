#include <xtape/core/error.hpp>
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/score_attention.hpp>
#include <xtape/core/kernels/softmax.hpp>
#include <xtape/core/ops/dropout.hpp>
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
    mask.padding = padding.dimension() ? padding.data() : nullptr;
    mask.hidden = hidden.dimension() ? hidden.data() : nullptr;
    return mask;
  }
};

View view_of(const char* op, index_t batches, index_t heads, index_t key_heads, index_t queries, index_t keys,
             const AttentionOptions& o) {
  if (key_heads == 0 || heads % key_heads != 0)
    fail_shapes<Shape>(op, "the query heads must be a multiple of the key heads", {shape_of({heads, key_heads})});
  View view{{batches, heads, key_heads, queries, keys, o.causal, nullptr, nullptr, 0}, o.key_padding, o.mask};
  const Shape padding = shape_of({batches, keys}), flat = shape_of({queries, keys});
  const Shape full = shape_of({batches, queries, keys});
  if (is_given(o.key_padding) && !same_shape(o.key_padding.shape(), padding))
    fail_shapes<Shape>(op, "key_padding must be [B, S]", {padding, o.key_padding.shape()});
  if (is_given(o.mask) && !same_shape(o.mask.shape(), flat) && !same_shape(o.mask.shape(), full))
    fail_shapes<Shape>(op, "the mask must be [T, S] or [B, T, S]", {full, o.mask.shape()});
  view.sizes.hidden_batch = o.mask.dimension() == 3 ? queries * keys : 0;
  return view;
}

void check_keys(const char* op, const Tensor& q, const Tensor& k) {
  if (q.rank() != 4 || k.rank() != 4 || k.size(0) != q.size(0) || k.size(3) != q.size(3))
    fail_shapes<Shape>(op, "q must be [B, H, T, D] and k [B, H', S, D]", {q.shape(), k.shape()});
}

/// The gradient buffer of an input to add to; null if no gradient is needed.
real* added_to(Grads& g, std::size_t input) { return g.needs(input) ? g.cleared_buffer(input).data : nullptr; }

}  // namespace

Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& w, const AttentionOptions& options) {
  constexpr const char* op = "additive_scores";
  check_keys(op, q, k);
  if (!same_shape(w.shape(), shape_of({q.size(1), q.size(3)})))
    fail_shapes<Shape>(op, "w must be [H, D]", {q.shape(), w.shape()});
  View view = view_of(op, q.size(0), q.size(1), k.size(1), q.size(2), k.size(2), options);
  Array scores(shape_of({q.size(0), q.size(1), q.size(2), k.size(2)}));
  kernels::additive_scores({view.bound(), q.size(3), q.data(), k.data(), w.data()}, scores.data());
  return Tape::record(
      op, {q, k, w}, Tensor(std::move(scores)),
      [view = std::move(view), q = q.detach(), k = k.detach(), w = w.detach()](const Array& dy, Grads& g) {
        // The kernel writes all three gradients; those that are not needed go to a scratch array.
        Array spare_q, spare_k, spare_w;
        const auto place = [&](std::size_t input, const Tensor& x, Array& spare) {
          if (real* to = added_to(g, input)) return to;
          spare = Array(x.shape(), real(0));
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
  if (scores.rank() != 4 || v.rank() != 4 || v.size(0) != scores.size(0) || v.size(2) != scores.size(3))
    fail_shapes<Shape>(op, "scores must be [B, H, T, S] and v [B, H', S, V]", {scores.shape(), v.shape()});
  View view = view_of(op, scores.size(0), scores.size(1), v.size(1), scores.size(2), scores.size(3), options);
  Array weights(scores.shape());
  kernels::masked_softmax(view.bound(), scores.data(), weights.data());
  const Tensor kept_weights(std::move(weights));
  const Tensor dropped = dropout(kept_weights, options.dropout, options.dropout_key);
  Array out(shape_of({scores.size(0), scores.size(1), scores.size(2), v.size(3)}));
  kernels::attention_values(view.bound(), v.size(3), dropped.data(), v.data(), out.data());
  return Tape::record(op, {scores, v}, Tensor(std::move(out)),
                      [view = std::move(view), weights = kept_weights, dropped, v = v.detach(),
                       keep = 1 - options.dropout](const Array& dy, Grads& g) {
                        Array dweights;  // of the weights after dropout, then before it
                        if (g.needs(0)) dweights = Array(weights.shape());
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
  check_keys(op, q, k);
  if (v.rank() != 4 || v.size(0) != k.size(0) || v.size(1) != k.size(1) || v.size(2) != k.size(2))
    fail_shapes<Shape>(op, "v must be [B, H', S, V]", {k.shape(), v.shape()});
  const View view = view_of(op, q.size(0), q.size(1), k.size(1), q.size(2), k.size(2), options);
  const index_t heads = q.size(1), group = heads / k.size(1), queries = q.size(2), width = v.size(3);
  IndexArray choice(shape_of({q.size(0), heads, queries}));
  kernels::argmax_keys(view.bound(), q.size(3), q.data(), k.data(), choice.data());
  // For each query (a row of the output) the row of v that it copies, or -1.
  for (index_t row = 0; row < static_cast<index_t>(choice.size()); ++row)
    if (choice.data()[row] >= 0) choice.data()[row] += row / queries / group * k.size(2);
  Array out(shape_of({q.size(0), heads, queries, width}), real(0));
  for (index_t row = 0; row < static_cast<index_t>(choice.size()); ++row)
    if (choice.data()[row] >= 0) std::copy_n(v.data() + choice.data()[row] * width, width, out.data() + row * width);
  return Tape::record(op, {q, k, v}, Tensor(std::move(out)),
                      [choice = std::move(choice), width](const Array& dy, Grads& g) {
                        added_to(g, 0);  // exactly zero, but given
                        added_to(g, 1);
                        real* dv = added_to(g, 2);
                        for (index_t row = 0; dv && row < static_cast<index_t>(choice.size()); ++row)
                          if (choice.data()[row] >= 0)
                            kernels::scaled(dy.data() + row * width, 1, {dv + choice.data()[row] * width, true}, width);
                      });
}

GradCases score_attention_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array q = sample({2, 4, 3, 2}, 141), k = sample({2, 2, 5, 2}, 142), v = sample({2, 2, 5, 3}, 143);
  const Array w = sample({4, 2}, 144), scores = sample({2, 4, 3, 5}, 145);
  Mask empty_row = causal_mask(3, 5);
  for (std::size_t s = 0; s < 5; ++s) empty_row(1, s) = true;
  const std::pair<const char*, AttentionOptions> variants[] = {
      {"grouped heads", {}},
      {"causal, more keys than queries", {.causal = true}},
      {"key padding", {.key_padding = padding_mask({4, 2}, 5)}},
      {"mask with an empty row", {.mask = empty_row}},
  };
  GradCases cases;
  for (const auto& [title, o] : variants) {
    cases.push_back(
        {"additive_scores", title, {q, k, w}, [o = o](Args a) { return additive_scores(a[0], a[1], a[2], o); }});
    cases.push_back({"attention_from_scores", title, {scores, v}, [o = o](Args a) {
                       return attention_from_scores(a[0], a[1], o);
                     }});
    cases.push_back(
        {"hard_attention", title, {q, k, v}, [o = o](Args a) { return hard_attention(a[0], a[1], a[2], o); }});
  }
  const AttentionOptions dropped = {.causal = true, .dropout = 0.4, .dropout_key = {1, 2, 3}};
  cases.push_back({"attention_from_scores", "dropout", {scores, v}, [dropped](Args a) {
                     return attention_from_scores(a[0], a[1], dropped);
                   }});
  return cases;
}

}  // namespace xtape::inline XTAPE_DTYPE
