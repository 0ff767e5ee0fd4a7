#include <xtape/core/ops.hpp>

#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

/// One head of one sequence with values of width 1.
Tensor column(std::initializer_list<double> values) { return Tensor(array({1, 1, std::ssize(values), 1}, values)); }

/// Linear attention in quadratic form: all T x S weights q.k exp(log weight), 0 where masked, divided by their sum.
Tensor quadratic_form(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& gain, const Mask& hidden) {
  Tensor weights = matmul(q, k, {.transpose_b = true});
  if (gain.defined()) weights = weights * exp(unsqueeze(gain, 2));
  weights = masked_fill(weights, hidden, 0);
  return matmul(weights, v) / sum(weights, {-1}, true);
}

/// The causal mask, aligned at the last key, and key padding as one mask [B, 1, T, S].
Mask hidden_pairs(const IndexArray& lengths, index_t queries, index_t keys, bool causal) {
  Mask out = empty_array<Mask>({std::ssize(lengths), 1, queries, keys});
  for (std::size_t b = 0; b < lengths.size(); ++b)
    for (index_t t = 0; t < queries; ++t)
      for (index_t s = 0; s < keys; ++s)
        out(b, 0, static_cast<std::size_t>(t), static_cast<std::size_t>(s)) =
            s >= lengths.data()[b] || (causal && s > t + keys - queries);
  return out;
}

const Limits kClose = {tolerance(1e-12, 2e-5), tolerance(1e-12, 2e-6)};

}  // namespace

TEST_CASE("linear_attention: padding contributes neither to the sum nor to the normalizer, in values and gradients") {
  for (double pad : {0.0, 5.0, -1e30, kNaN}) {
    Tape tape;
    const Tensor k = tape.variable(column({1, -1, pad}).value()), v = tape.variable(column({2, 4, 100}).value());
    const Mask padding = mask({1, 3}, {false, false, true});
    const Tensor phi_k = elu(masked_fill(k, mask({1, 1, 3, 1}, {false, false, true}), 0)) + real(1);
    const Tensor y = linear_attention(elu(column({0.5})) + real(1), phi_k, v, {}, {.key_padding = padding});
    check_near(y.value(), array({1, 1, 1, 1}, {2.3107248070}), {1e-6, 0});
    tape.backward(sum(y));
    CHECK(tape.grad(k).data()[2] == 0);
    CHECK(tape.grad(v).data()[2] == 0);
    CHECK(tape.grad(k).data()[0] != 0);
  }
}

TEST_CASE("linear_attention: causal attention by running sums") {
  const auto features = [](std::initializer_list<double> x) { return elu(Tensor(array({1, 1, 3, 2}, x))) + real(1); };
  const Tensor y = linear_attention(features({.5, -1, -2, .3, 1.5, 0}), features({1, 0, -1, 2, .25, -.5}),
                                    column({2, 4, -6}), {}, {.causal = true});
  check_near(y.value(), array({1, 1, 3, 1}, {2, 3.4309636373, 0.3874823543}), {tolerance(1e-9, 1e-5), 1e-7});
}

TEST_CASE("linear_attention equals the quadratic form for all shapes and masks") {
  for (const auto& [queries, keys] : {std::pair<index_t, index_t>{7, 7}, {3, 7}, {1, 7}, {70, 70}}) {
    const index_t T = queries, S = keys;
    const Tensor q(sample({2, 2, T, 5}, 1, 0.1, 1)), k(sample({2, 2, S, 5}, 2, 0.1, 1)), v(sample({2, 2, S, 3}, 3));
    const Tensor gain(sample({2, 2, S}, 4, -3, 3));
    for (bool causal : {false, true}) {
      for (const Tensor& g : {Tensor(), gain}) {
        const IndexArray lengths = {keys, keys - 1};
        const Tensor want = quadratic_form(q, k, v, g, hidden_pairs(lengths, queries, keys, causal));
        const Tensor got = linear_attention(q, k, v, g, {.causal = causal, .key_padding = padding_mask(lengths, keys)});
        check_near(got.value(), want.value(), kClose);
      }
    }
  }
}

TEST_CASE("linear_attention: large log weights are shifted by their running maximum") {
  const Tensor q = column({1, 1, 1, 1}), k = column({1, 1, 1, 1}), v = column({1, 2, 3, 4});
  const Tensor gain(array({1, 1, 4}, {-2000, 1000, 999, 3000}));
  const Tensor y = linear_attention(q, k, v, gain, {.causal = true});
  const double e = std::exp(-1.0);
  check_near(y.value(), array({1, 1, 4, 1}, {1, 2, (2 + 3 * e) / (1 + e), 4}), {tolerance(1e-14, 1e-6), 0});
}

TEST_CASE("separable_attention equals softmax over rows times softmax over the unmasked part of columns") {
  const Tensor a = softmax(Tensor(sample({2, 2, 6, 5}, 1, -3, 3))), v(sample({2, 2, 6, 3}, 3));
  Array keys = sample({2, 2, 6, 5}, 2, -3, 3);
  keys(0, 0, 4, 2) = 2000;  // a late key much larger than all others
  const Tensor k(keys);
  const IndexArray lengths = {6, 4};
  for (bool causal : {false, true}) {
    const Tensor got = separable_attention(a, k, v, {.causal = causal, .key_padding = padding_mask(lengths, 6)});
    for (index_t t = 0; t < 6; ++t) {
      const Mask hidden = hidden_pairs(lengths, 6, 6, causal);
      Mask at = empty_array<Mask>({2, 1, 6, 1});
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t s = 0; s < 6; ++s) at(b, 0, s, 0) = hidden(b, 0, static_cast<std::size_t>(t), s);
      const Tensor weights = softmax(masked_fill(k, at, -std::numeric_limits<real>::infinity()), 2);
      const Tensor want = matmul(slice(a, 2, t, t + 1), matmul(weights, v, {.transpose_a = true}));
      check_near(slice(got, 2, t, t + 1).value(), want.value(), kClose);
    }
  }
  const Tensor ones = separable_attention(a, k, Tensor::ones({2, 2, 6, 3}), {.causal = true});
  // the weights of each query sum to 1
  check_near(ones.value(), Tensor::ones({2, 2, 6, 3}).value(), {tolerance(1e-12, 1e-5), 0});
}

TEST_CASE("linear attention: a denominator of zero and a query without unmasked keys give zeros, not NaN") {
  Tape tape;
  const Tensor q = tape.variable(array({1, 1, 2, 1}, {0, 1})), k = tape.variable(array({1, 1, 2, 1}, {1, 1}));
  const Tensor v = tape.variable(array({1, 1, 2, 1}, {3, 5}));
  const Tensor y = linear_attention(q, k, v);
  check_equal(y.value(), array({1, 1, 2, 1}, {0, 4}));
  const Tensor blind = linear_attention(q, k, v, {}, {.key_padding = mask({1, 2}, {true, true})});
  const Tensor columns = separable_attention(q, k, v, {.key_padding = mask({1, 2}, {true, true})});
  check_equal(blind.value(), Tensor::zeros({1, 1, 2, 1}).value());
  check_equal(columns.value(), Tensor::zeros({1, 1, 2, 1}).value());
  tape.backward(sum(y) + sum(blind) + sum(columns));
  check_equal(tape.grad(v), array({1, 1, 2, 1}, {0.5, 0.5}));
  CHECK(tape.grad(q).data()[0] == 0);
}

TEST_CASE("linear attention: later positions change no bit of earlier ones, even if they are NaN or huge") {
  const Array q = sample({1, 2, 40, 6}, 1, 0.1, 1), k = sample({1, 2, 40, 6}, 2, 0.1, 1), v = sample({1, 2, 40, 5}, 3);
  const Array gain = sample({1, 2, 40}, 4, -3, 3);
  for (const double late : {kNaN, 1e20}) {
    Array q2 = q, k2 = k, v2 = v, log_key_weight2 = gain;
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t t = 25; t < 40; ++t) {
        for (std::size_t f = 0; f < 6; ++f) q2(0, h, t, f) = k2(0, h, t, f) = static_cast<real>(late);
        for (std::size_t f = 0; f < 5; ++f) v2(0, h, t, f) = static_cast<real>(late);
        log_key_weight2(0, h, t) = static_cast<real>(late);
      }
    const auto early = [](const Tensor& y) { return slice(y, 2, 0, 25).value(); };
    const LinearAttentionOptions causal = {.causal = true};
    check_equal(early(linear_attention(q2, k2, v2, log_key_weight2, causal)),
                early(linear_attention(q, k, v, gain, causal)));
    check_equal(early(linear_attention(q2, k2, v2, {}, causal)), early(linear_attention(q, k, v, {}, causal)));
    check_equal(early(separable_attention(q2, k2, v2, causal)), early(separable_attention(q, k, v, causal)));
  }
}

TEST_CASE("linear_attention_step: any chunk sizes give the bits of the whole sequence") {
  const Tensor q(sample({2, 4, 9, 6}, 1, 0.1, 1)), k(sample({2, 2, 9, 6}, 2, 0.1, 1)), v(sample({2, 2, 9, 5}, 3));
  const Tensor gain(sample({2, 2, 9}, 4, -3, 3));
  const auto part = [](const Tensor& x, index_t begin, index_t end) { return slice(x, 2, begin, end); };
  for (const bool separable : {false, true}) {
    const Tensor whole =
        separable ? separable_attention(q, k, v, {.causal = true}) : linear_attention(q, k, v, gain, {.causal = true});
    for (const std::vector<index_t>& cuts : {std::vector<index_t>{9}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {4, 9}, {1, 8, 9}}) {
      LinearState state = linear_state(2, 2, 6, 5);
      index_t begin = 0;
      for (index_t end : cuts) {
        const Tensor y = linear_attention_step(part(q, begin, end), part(k, begin, end), part(v, begin, end),
                                               separable ? Tensor() : part(gain, begin, end), {}, separable, state);
        check_equal(y.value(), part(whole, begin, end).value());
        begin = end;
      }
    }
  }
}

TEST_CASE("quadratic_features: their dot products are (x.y + 1)^2") {
  const Tensor x(sample({4, 3}, 1)), y(sample({4, 3}, 2));
  const Tensor phi = quadratic_features(x);
  CHECK(phi.shape() == Shape{4, 10});
  const Tensor want = pow(matmul(x, y, {.transpose_b = true}) + real(1), 2);
  check_near(matmul(phi, quadratic_features(y), {.transpose_b = true}).value(), want.value(), kClose);
}

TEST_CASE("linear attention refuses operands that do not match") {
  const Tensor q = Tensor::ones({2, 4, 3, 5}), k = Tensor::ones({2, 2, 6, 5}), v = Tensor::ones({2, 2, 6, 7});
  const Tensor k3 = Tensor::ones({2, 3, 6, 5}), v3 = Tensor::ones({2, 3, 6, 7});
  check_throws<ShapeError>([&] { linear_attention(Tensor::ones({2, 3, 5}), k, v); },
                           "[linear_attention] expected q [B, H, T, D], k [B, H', S, D] and v [B, H', S, V] with H a "
                           "multiple of H', got (2,3,5)");
  check_throws<ShapeError>([&] { linear_attention(q, Tensor::ones({2, 2, 6, 4}), v); },
                           "with H a multiple of H', got (2,4,3,5), (2,2,6,4) and (2,2,6,7)");
  check_throws<ShapeError>([&] { linear_attention(q, k3, v3); }, "got (2,4,3,5), (2,3,6,5) and (2,3,6,7)");
  check_throws<ShapeError>([&] { linear_attention(q, k, v, Tensor::ones({2, 2, 5})); },
                           "[linear_attention] expected log_key_weight of shape (2,2,6), got (2,2,5)");
  check_throws<ShapeError>([&] { separable_attention(q, k, v, {.key_padding = empty_array<Mask>({2, 5})}); },
                           "[separable_attention] expected key_padding of shape (2,6), got (2,5)");
  LinearState state = linear_state(2, 3, 5, 7);
  check_throws<ShapeError>([&] { linear_attention_step(q, k, v, {}, {}, false, state); },
                           "[linear_attention_step] expected as many queries as keys, got (2,4,3,5) and (2,2,6,5)");
  check_throws<ShapeError>([&] { linear_attention_step(k, k, v, {}, {}, false, state); },
                           "[linear_attention_step] expected a state of shape " +
                               shape_text(linear_state(2, 2, 5, 7).shape()) + ", got " + shape_text(state.shape()));
  check_throws<ShapeError>([&] { quadratic_features(Tensor::scalar(1)); },
                           "[quadratic_features] expected x [..., D], got ()");
  check_throws<ShapeError>([&] { quadratic_features(q, Tensor::ones({2, 4, 3})); },
                           "[quadratic_features] expected a unit of shape (2,4,3,1), got (2,4,3)");
  // the features of an empty vector are 1
  check_equal(quadratic_features(Tensor::zeros({2, 0})).value(), array({2, 1}, {1, 1}));
}
