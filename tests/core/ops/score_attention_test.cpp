#include <xtape/core/ops.hpp>

#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

namespace {

const Limits kClose = {tolerance(1e-12, 2e-5), tolerance(1e-13, 2e-6)};

}  // namespace

TEST_CASE("additive_scores: w.tanh(q + k), with grouped heads") {
  const Tensor q(sample({2, 4, 3, 2}, 1)), k(sample({2, 2, 5, 2}, 2)), w(sample({4, 2}, 3));
  const Tensor scores = additive_scores(q, k, w);
  for (index_t h = 0; h < 4; ++h) {
    const Tensor query = unsqueeze(slice(q, 1, h, h + 1), 3), key = unsqueeze(slice(k, 1, h / 2, h / 2 + 1), 2);
    const Tensor want = sum(tanh(query + key) * slice(w, 0, h, h + 1), {-1});
    check_near(slice(scores, 1, h, h + 1).value(), want.value(), kClose);
  }
}

TEST_CASE("attention_from_scores of scaled dot products equals scaled_dot_product_attention") {
  const Tensor q(sample({2, 2, 5, 4}, 1)), k(sample({2, 2, 5, 4}, 2)), v(sample({2, 2, 5, 3}, 3));
  const Tensor scores = matmul(q, k, {.transpose_b = true}) * real(0.5);
  for (const AttentionOptions& o :
       {AttentionOptions{}, AttentionOptions{.causal = true}, AttentionOptions{.key_padding = padding_mask({5, 2}, 5)},
        AttentionOptions{.mask = causal_mask(5, 5)}})
    check_near(attention_from_scores(scores, v, o).value(), scaled_dot_product_attention(q, k, v, o).value(), kClose);
}

TEST_CASE("attention_from_scores: dropout drops whole weights and scales the others") {
  const Tensor scores = Tensor::zeros({1, 1, 1, 1000}), v = Tensor::ones({1, 1, 1000, 1});
  const real y = attention_from_scores(scores, v, {.dropout = 0.5, .dropout_key = {1, 2, 3}}).item();
  CHECK(std::abs(static_cast<double>(y) - 1) < 4 / std::sqrt(1000.0));
  CHECK(y != 1);
  CHECK(attention_from_scores(scores, v, {.dropout = 1}).item() == 0);
}

TEST_CASE("hard_attention: returns the value of the best key, with no gradient for queries and keys") {
  Tape tape;
  const Tensor q = tape.variable(array({1, 1, 1, 3}, {1, 1, 2}));
  const Tensor k = tape.variable(array({1, 1, 4, 3}, {1, 2, 0, 0, 3, 4, 5, 0, 0, 0, 0, 1}));
  const Tensor v = tape.variable(array({1, 1, 4, 3}, {2, 0, 1, 1, 4, 3, 0, -1, 4, 1, 0, -1}));
  const Tensor y = hard_attention(q, k, v);
  check_equal(y.value(), array({1, 1, 1, 3}, {1, 4, 3}));
  tape.backward(sum(y));
  check_equal(tape.grad(q), Tensor::zeros({1, 1, 1, 3}).value());
  check_equal(tape.grad(k), Tensor::zeros({1, 1, 4, 3}).value());
  check_equal(tape.grad(v), array({1, 1, 4, 3}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST_CASE("hard_attention: takes the first of equal keys, never a masked one, and gives zeros without unmasked keys") {
  const Tensor q = Tensor::ones({1, 1, 2, 1}), k(array({1, 1, 3, 1}, {1, 2, 2})), v(array({1, 1, 3, 1}, {10, 20, 30}));
  check_equal(hard_attention(q, k, v).value(), array({1, 1, 2, 1}, {20, 20}));
  check_equal(hard_attention(q, k, v, {.causal = true}).value(), array({1, 1, 2, 1}, {20, 20}));
  const Mask hidden = mask({2, 3}, {false, true, false, true, true, true});
  check_equal(hard_attention(q, k, v, {.mask = hidden}).value(), array({1, 1, 2, 1}, {30, 0}));
  Array broken = k.value();
  broken(0, 0, 1, 0) = kNaN;
  check_equal(hard_attention(q, Tensor(broken), v, {.key_padding = mask({1, 3}, {false, true, false})}).value(),
              array({1, 1, 2, 1}, {30, 30}));
}

TEST_CASE("attention by scores: a masked NaN has no influence, on gradients neither") {
  Array k = sample({1, 1, 3, 2}, 1), v = sample({1, 1, 3, 2}, 2);
  for (std::size_t i = 0; i < 2; ++i) k(0, 0, 2, i) = v(0, 0, 2, i) = kNaN;
  Tape tape;
  const Tensor q = tape.variable(sample({1, 1, 3, 2}, 3)), keys = tape.variable(k), values = tape.variable(v);
  const Tensor w = tape.variable(sample({1, 2}, 4));
  const AttentionOptions padded = {.key_padding = mask({1, 3}, {false, false, true})};
  const Tensor y = attention_from_scores(additive_scores(q, keys, w, padded), values, padded);
  tape.backward(sum(y));
  for (const Tensor& x : {q, keys, values, w})
    for (real g : tape.grad(x)) CHECK(std::isfinite(g));
  for (std::size_t i = 4; i < 6; ++i) CHECK((tape.grad(keys).data()[i] == 0 && tape.grad(values).data()[i] == 0));
  check_near(y.value(),
             attention_from_scores(additive_scores(q.detach(), slice(Tensor(k), 2, 0, 2), w.detach()),
                                   slice(Tensor(v), 2, 0, 2))
                 .value(),
             kClose);
}

TEST_CASE("attention by scores refuses operands that do not match") {
  const Tensor q = Tensor::ones({2, 4, 3, 5}), k = Tensor::ones({2, 2, 6, 5}), v = Tensor::ones({2, 2, 6, 7});
  check_throws<ShapeError>(
      [&] { additive_scores(q, Tensor::ones({2, 2, 6, 4}), Tensor::ones({4, 5})); },
      "[additive_scores] expected q [B, H, T, D] and k [B, H', S, D] with H a multiple of H', got (2,4,3,5) and "
      "(2,2,6,4)");
  check_throws<ShapeError>([&] { additive_scores(q, Tensor::ones({2, 3, 6, 5}), Tensor::ones({4, 5})); },
                           "got (2,4,3,5) and (2,3,6,5)");
  check_throws<ShapeError>([&] { additive_scores(q, k, Tensor::ones({4, 4})); },
                           "[additive_scores] expected w of shape (4,5), got (4,4)");
  check_throws<ShapeError>(
      [&] { attention_from_scores(Tensor::ones({2, 4, 3, 5}), v); },
      "[attention_from_scores] expected scores [B, H, T, S] and v [B, H', S, V] with H a multiple of H', got "
      "(2,4,3,5) and (2,2,6,7)");
  check_throws<ShapeError>([&] { attention_from_scores(Tensor::ones({2, 3, 3, 6}), v); },
                           "with H a multiple of H', got (2,3,3,6) and (2,2,6,7)");
  check_throws<ValueError>([&] { attention_from_scores(Tensor::ones({2, 4, 3, 6}), v, {.dropout = -1}); },
                           "probability");
  check_throws<ShapeError>([&] { hard_attention(q, k, Tensor::ones({2, 2, 5, 7})); },
                           "and v [B, H', S, V] with H a multiple of H', got (2,4,3,5), (2,2,6,5) and (2,2,5,7)");
  check_throws<ShapeError>([&] { hard_attention(q, k, v, {.key_padding = empty_array<Mask>({2, 5})}); },
                           "[hard_attention] expected key_padding of shape (2,6), got (2,5)");
  check_throws<ShapeError>([&] { hard_attention(q, k, v, {.mask = empty_array<Mask>({3, 5})}); },
                           "[hard_attention] expected a mask of shape (3,6) or (2,3,6), got (3,5)");
}
