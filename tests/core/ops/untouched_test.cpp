// What is hidden, dropped, ignored or inactive has a gradient of exactly zero and no influence, whatever operands and
// upstream gradients hold.
#include "core/evaluate.hpp"
#include "core/hidden_keys.hpp"

#include <xtape/core/ops/cached_attention.hpp>

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

constexpr double kPoisons[] = {kNaN, kInf, -kInf};

/// An op, and for each input the wanted gradient: NaN stands for "anything".
struct Promise {
  std::string title;
  TensorFunction f;
  std::vector<Array> inputs;
  Array upstream;
  std::vector<Array> gradients;
};

constexpr double kAny = kNaN;

std::vector<Promise> promises(double p) {
  const Mask second = mask({2}, {false, true});
  const double ninf = -kInf;
  return {
      {"softmax of a row of minus infinities",
       [](Inputs a) { return softmax(a[0]); },
       {row({ninf, ninf})},
       row({p, 1}),
       {row({0, 0})}},
      {"softmax, a logit of minus infinity",
       [](Inputs a) { return softmax(a[0]); },
       {row({0, ninf, 0})},
       row({1, p, 3}),
       {row({-0.5, 0, 0.5})}},
      {"log_softmax of a row of minus infinities",
       [](Inputs a) { return log_softmax(a[0]); },
       {row({ninf, ninf})},
       row({p, 1}),
       {row({0, 0})}},
      {"logsumexp of minus infinities",
       [](Inputs a) { return logsumexp(a[0]); },
       {row({ninf, ninf})},
       array({}, {p}),
       {row({0, 0})}},
      {"logsumexp, an element of minus infinity",
       [](Inputs a) { return logsumexp(a[0]); },
       {row({0, ninf})},
       array({}, {p}),
       {row({kAny, 0})}},
      {"cross_entropy, an ignored target",
       [](Inputs a) { return cross_entropy(a[0], indices({2}, {kIgnore, 1}), {.reduction = Reduction::none}); },
       {array({2, 2}, {p, p, 0, 0})},
       row({p, 1}),
       {array({2, 2}, {0, 0, 0.5, -0.5})}},
      {"cross_entropy, a row of minus infinities",
       [](Inputs a) { return cross_entropy(a[0], indices({1}, {1}), {.label_smoothing = 0.1}); },
       {array({1, 2}, {ninf, ninf})},
       array({}, {p}),
       {array({1, 2}, {0, 0})}},
      {"cross_entropy of distributions, a row of minus infinities",
       [](Inputs a) { return cross_entropy(a[0], a[1]); },
       {array({1, 2}, {ninf, ninf}), array({1, 2}, {0.5, 0.5})},
       array({}, {p}),
       {array({1, 2}, {0, 0}), array({1, 2}, {0, 0})}},
      {"cross_entropy, a class of minus infinity",
       [](Inputs a) { return cross_entropy(a[0], indices({1}, {0})); },
       {array({1, 3}, {0, 0, ninf})},
       array({}, {p}),
       {array({1, 3}, {kAny, kAny, 0})}},
      {"kl_div, a target of 0",
       [](Inputs a) { return kl_div(a[0], a[1], {.reduction = Reduction::none}); },
       {row({ninf, 0}), row({0, 1})},
       row({p, 1}),
       {row({0, -1}), row({0, 1})}},
      {"masked_fill, a filled element",
       [=](Inputs a) { return masked_fill(a[0], second, 7); },
       {row({1, p})},
       row({1, p}),
       {row({1, 0})}},
      {"where, an element that is not chosen",
       [=](Inputs a) { return where(second, a[0], a[1]); },
       {row({p, 1}), row({1, p})},
       row({2, 3}),
       {row({0, 3}), row({2, 0})}},
      {"dropout of all",
       [](Inputs a) { return dropout(a[0], 1, {1, 2, 3}); },
       {row({p, 1})},
       row({p, p}),
       {row({0, 0})}},
      {"embedding, the padding row",
       [](Inputs a) { return embedding(a[0], indices({2}, {0, 1}), 0); },
       {array({2, 1}, {p, 1})},
       array({2, 1}, {p, 2}),
       {array({2, 1}, {0, 2})}},
      {"rnn with relu, an inactive unit",
       [](Inputs a) { return rnn(a[0], {}, {a[1], a[2]}, {Nonlinearity::relu}).y; },
       {array({1, 1, 1}, {-1}), array({1, 1}, {1}), array({1, 1}, {0})},
       array({1, 1, 1}, {p}),
       {array({1, 1, 1}, {0}), array({1, 1}, {0}), array({1, 1}, {0})}},
      {"rnn_cell with relu, an inactive unit",
       [](Inputs a) { return rnn_cell(a[0], {}, {a[1], a[2]}, {Nonlinearity::relu}); },
       {array({1, 1}, {-1}), array({1, 1}, {1}), array({1, 1}, {0})},
       array({1, 1}, {p}),
       {array({1, 1}, {0}), array({1, 1}, {0}), array({1, 1}, {0})}},
      {"rnn with relu outside, an inactive unit before the product",
       [](Inputs a) { return rnn(a[0], a[3], {a[1], a[2]}, {Nonlinearity::relu, NonlinearityPlace::outside}).y; },
       {array({1, 1, 1}, {1}), array({1, 1}, {1}), array({1, 1}, {1}), array({1, 1}, {-1})},
       array({1, 1, 1}, {p}),
       {array({1, 1, 1}, {kAny}), array({1, 1}, {kAny}), array({1, 1}, {kAny}), array({1, 1}, {0})}},
      {"rnn, a padded step",
       [](Inputs a) { return rnn(a[0], {}, {a[1], a[2]}, {}, {.lengths = {1}}).y; },
       {array({1, 2, 1}, {0, p}), array({1, 1}, {1}), array({1, 1}, {1})},
       array({1, 2, 1}, {1, p}),
       {array({1, 2, 1}, {1, 0}), array({1, 1}, {0}), array({1, 1}, {0})}},
  };
}

/// An attention: q, k, v, causality and padding.
using Attention = std::function<Tensor(Inputs, bool causal, const Mask& padding)>;

struct NamedAttention {
  std::string name;
  Attention run;
};

Mask as_mask(bool causal, const Mask& padding, index_t queries) {
  Mask out = empty_array<Mask>({shape_of(padding)[0], queries, shape_of(padding)[1]});
  for (std::size_t b = 0; b < out.shape()[0]; ++b)
    for (std::size_t t = 0; t < out.shape()[1]; ++t)
      for (std::size_t s = 0; s < out.shape()[2]; ++s)
        out(b, t, s) = padding(b, s) || (causal && s > t + out.shape()[2] - out.shape()[1]);
  return out;
}

std::vector<NamedAttention> named_attentions() {
  const auto options = [](bool causal, const Mask& padding) {
    return AttentionOptions{.causal = causal, .key_padding = padding};
  };
  return {
      {"scaled_dot_product_attention",
       [=](Inputs a, bool c, const Mask& m) { return scaled_dot_product_attention(a[0], a[1], a[2], options(c, m)); }},
      {"scaled_dot_product_attention with a mask",
       [=](Inputs a, bool c, const Mask& m) {
         return scaled_dot_product_attention(a[0], a[1], a[2], {.mask = as_mask(c, m, a[0].size(2))});
       }},
      {"scaled_dot_product_attention with dropout",
       [=](Inputs a, bool c, const Mask& m) {
         return scaled_dot_product_attention(
             a[0], a[1], a[2], {.causal = c, .key_padding = m, .dropout = 0.25, .dropout_key = {1, 2, 3}});
       }},
      {"self_attention",
       [=](Inputs a, bool c, const Mask& m) {
         return split_heads(
             self_attention(concat({join_heads(a[0]), join_heads(a[1]), join_heads(a[2])}, 2), 1, options(c, m)), 0, 1,
             2);
       }},
      {"additive attention",
       [=](Inputs a, bool c, const Mask& m) {
         return attention_from_scores(additive_scores(a[0], a[1], Tensor(array({1, 2}, {0.5, -1})), options(c, m)),
                                      a[2], options(c, m));
       }},
      {"hard_attention",
       [=](Inputs a, bool c, const Mask& m) { return hard_attention(a[0], a[1], a[2], options(c, m)); }},
      {"linear_attention",
       [=](Inputs a, bool c, const Mask& m) {
         return linear_attention(a[0], a[1], a[2], {}, {.causal = c, .key_padding = m});
       }},
      {"linear_attention with key weights",
       [=](Inputs a, bool c, const Mask& m) {
         return linear_attention(a[0], a[1], a[2], sum(a[1], {-1}), {.causal = c, .key_padding = m});
       }},
      {"separable_attention",
       [=](Inputs a, bool c, const Mask& m) {
         return separable_attention(a[0], a[1], a[2], {.causal = c, .key_padding = m});
       }},
  };
}

}  // namespace

TEST_CASE("what is hidden, dropped, ignored or inactive gets a gradient of zero from any upstream gradient") {
  for (double poison : kPoisons) {
    for (const Promise& promise : promises(poison)) {
      INFO(promise.title, ", poison ", poison);
      const Evaluated e = evaluate(promise.f, promise.inputs, promise.upstream);
      for (std::size_t i = 0; i < e.grads.size(); ++i)
        for (std::size_t j = 0; j < e.grads[i].size(); ++j)
          if (const double want = static_cast<double>(promise.gradients[i].data()[j]); !std::isnan(want))
            check_near(static_cast<double>(e.grads[i].data()[j]), want, {1e-6, 0});
    }
  }
}

TEST_CASE("attention: what a query does not see has no influence on it and gets no gradient from it") {
  const std::vector<Array> operands = {sample({1, 1, 3, 2}, 1, 0.1, 1), sample({1, 1, 3, 2}, 2, 0.1, 1),
                                       sample({1, 1, 3, 2}, 3), sample({1, 1, 3, 2}, 4)};
  const Mask padding = mask({1, 3}, {false, false, true});
  const Limits close = {tolerance(1e-12, 1e-5), tolerance(1e-14, 1e-7)};
  for (const NamedAttention& attention : named_attentions()) {
    const auto run = [&](const std::vector<Array>& x) {
      return evaluate([&](Inputs a) { return attention.run(a, true, padding); }, {x[0], x[1], x[2]}, x[3]);
    };
    const Evaluated clean = run(operands);
    for (double poison : kPoisons) {
      for (std::size_t what = 0; what < 4; ++what) {
        for (std::size_t at = 0; at < 3; ++at) {
          INFO(attention.name, ": ", poison, " in row ", at, " of operand ", what);
          std::vector<Array> x = operands;
          x[what] = with_row(x[what], at, poison);
          const Evaluated e = run(x);
          for (std::size_t t = 0; t < 3; ++t) {
            if (what == 3 || !query_reads(t, what, at)) check_near(row_of(e.value, t), row_of(clean.value, t), close);
            for (std::size_t input = 0; input < 3; ++input)
              if (!gradient_reads(input, t, what, at))
                check_near(row_of(e.grads[input], t), row_of(clean.grads[input], t), close);
          }
          for (std::size_t input : {1, 2}) check_equal(row_of(e.grads[input], 2), array({1, 1, 1, 2}, {0, 0}));
        }
      }
    }
  }
}

TEST_CASE("attention: a query that sees nothing gives zeros, whatever it holds") {
  const Mask padding = mask({1, 2}, {true, true});
  for (const NamedAttention& attention : named_attentions()) {
    for (double poison : kPoisons) {
      INFO(attention.name, ", ", poison);
      const Array x = full_array({1, 1, 2, 2}, static_cast<real>(poison)), zeros = full_array({1, 1, 2, 2}, real(0));
      const Evaluated e = evaluate([&](Inputs a) { return attention.run(a, false, padding); }, {x, x, x}, x);
      check_equal(e.value, zeros);
      for (const Array& grad : e.grads) check_equal(grad, zeros);
    }
  }
}

TEST_CASE("attention: a query whose upstream gradient is zero contributes nothing, even if it is NaN") {
  const Mask padding = mask({1, 3}, {false, false, false});
  for (const NamedAttention& attention : named_attentions()) {
    INFO(attention.name);
    const Array k = sample({1, 1, 3, 2}, 2, 0.1, 1), v = sample({1, 1, 3, 2}, 3),
                dy = with_row(sample({1, 1, 3, 2}, 4), 1, 0);
    const auto run = [&](const Array& q) {
      return evaluate([&](Inputs a) { return attention.run(a, false, padding); }, {q, k, v}, dy);
    };
    const Array q = sample({1, 1, 3, 2}, 1, 0.1, 1);
    const Evaluated clean = run(q), e = run(with_row(q, 1, kNaN));
    for (std::size_t i = 0; i < 3; ++i)
      check_near(e.grads[i], clean.grads[i], {tolerance(1e-12, 1e-5), tolerance(1e-14, 1e-7)});
  }
}

TEST_CASE("attention: a weight of zero takes nothing from an infinite value") {
  // The second score is so low that its weight is exactly 0; the third is minus infinity itself.
  const double low = kDouble ? -1e6 : -1e4;
  const Array q = array({1, 1, 1, 1}, {1}), k = array({1, 1, 3, 1}, {0, low, -kInf}),
              v = array({1, 1, 3, 1}, {7, kInf, kNaN});
  const Array want = array({1, 1, 1, 1}, {7});
  check_equal(scaled_dot_product_attention(Tensor(q), Tensor(k), Tensor(v), {.scale = 1}).value(), want);
  check_equal(attention_from_scores(Tensor(array({1, 1, 1, 3}, {0, low, -kInf})), Tensor(v)).value(), want);
  const auto padded = [](const Array& x) {
    Array out = full_array({1, 1, 3, cached_row_width(1)}, real(0));
    for (std::size_t s = 0; s < 3; ++s) out(0, 0, s, 0) = x(0, 0, s, 0);
    return out;
  };
  const Array keys = padded(k), values = padded(v);
  const IndexArray lengths = {3};
  check_equal(cached_attention(Tensor(q), {keys, values, lengths, 1, 1}, {}, 1).value(), want);
}

TEST_CASE("cached_attention: rows past a chunk's length are zero, whatever the queries hold") {
  const index_t padded = cached_row_width(2);
  const Array keys = sample({2, 1, 4, padded}, 1), values = sample({2, 1, 4, padded}, 2);
  const IndexArray lengths = {3, 2}, chunk = {2, 1};
  for (const index_t time : {2, 20}) {  // few queries, and many
    Array q = sample({2, 1, time, 2}, 3);
    for (index_t t = 1; t < time; ++t) q(1, 0, t, 0) = real(kNaN);
    const Array y =
        cached_attention(Tensor(q), {keys, values, lengths, 2, 2}, time == 2 ? chunk : IndexArray({2, 1}), 1).value();
    for (index_t t = 1; t < time; ++t)
      for (std::size_t d = 0; d < 2; ++d) CHECK(y(1, 0, t, d) == 0);
    CHECK(std::isfinite(static_cast<double>(y(1, 0, 0, 0))));
  }
}

TEST_CASE("hard_attention chooses a NaN score as argmax does, the first of several") {
  const Tensor q(array({1, 1, 1, 1}, {1})), v(array({1, 1, 4, 1}, {1, 2, 3, 4}));
  const auto chosen = [&](std::initializer_list<double> scores, const AttentionOptions& o = {}) {
    const Tensor row(array({4}, scores));
    const double got = static_cast<double>(hard_attention(q, reshape(row, {1, 1, 4, 1}), v, o).value()(0, 0, 0, 0));
    if (o.key_padding.dimension() == 0) CHECK(got == static_cast<double>(argmax(row, 0)() + 1));
    return got;
  };
  CHECK(chosen({1, kNaN, 3, kNaN}) == 2);
  CHECK(chosen({kNaN, kNaN, kInf, 0}) == 1);
  CHECK(chosen({-kInf, -kInf, -kInf, -kInf}) == 1);
  CHECK(chosen({1, kNaN, 3, 2}, {.key_padding = mask({1, 4}, {false, true, false, false})}) == 3);
}

TEST_CASE("recurrent ops: padded steps may hold anything, and so may their upstream gradients") {
  const std::vector<Array> h = {sample({3, 2}, 2), sample({3, 2}, 3)};
  const IndexArray lengths = {2, 0, 3};
  const auto weights = [](index_t gates) {
    return std::vector<Array>{sample({gates * 2, 2}, 4), sample({gates * 2, 2}, 5), sample({gates * 2}, 6)};
  };
  using Run = std::function<Tensor(Inputs, const RecurrentWeights&, const SequenceOptions&)>;
  const std::vector<std::tuple<std::string, std::size_t, Run>> ops = {
      {"rnn", 1, [](Inputs a, auto& w, auto& o) { return rnn(a[0], a[1], w, {}, o).y; }},
      {"rnn with relu", 1, [](Inputs a, auto& w, auto& o) { return rnn(a[0], a[1], w, {Nonlinearity::relu}, o).y; }},
      {"lstm", 4, [](Inputs a, auto& w, auto& o) { return lstm(a[0], a[1], a[2], w, o).y; }},
      {"gru", 3, [](Inputs a, auto& w, auto& o) { return gru(a[0], a[1], w, GruReset::after, o).y; }},
      {"gru, reset before", 3, [](Inputs a, auto& w, auto& o) { return gru(a[0], a[1], w, GruReset::before, o).y; }},
  };
  for (const auto& [name, gates, run] : ops) {
    for (const bool reverse : {false, true}) {
      const auto at = [&, run = run, gates = gates](double poison) {
        Array x = sample({3, 3, 2}, 1), dy = sample({3, 3, 2}, 7);
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t t = static_cast<std::size_t>(lengths(b)); t < 3; ++t)
            for (std::size_t i = 0; i < 2; ++i) x(b, t, i) = dy(b, t, i) = static_cast<real>(poison);
        std::vector<Array> inputs = {x, h[0], h[1]};
        for (const Array& w : weights(gates)) inputs.push_back(w);
        return evaluate(
            [&](Inputs a) { return run(a, {a[3], a[4], a[5], a[5]}, {.lengths = lengths, .reverse = reverse}); },
            inputs, dy);
      };
      const Evaluated clean = at(0);
      for (double poison : kPoisons) {
        INFO(name, ", ", poison, reverse ? ", reverse" : "");
        const Evaluated e = at(poison);
        check_equal(e.value, clean.value);
        for (std::size_t i = 0; i < clean.grads.size(); ++i) check_equal(e.grads[i], clean.grads[i]);
      }
    }
  }
}
