// Attention where an intermediate result could leave the range of the scalar, though the result does not.
#include "core/evaluate.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

using Inputs = std::span<const Tensor>;

/// One head of one sequence with rows of width 1.
Array one_head(std::initializer_list<double> values) { return array({1, 1, std::ssize(values), 1}, values); }

Array multiplied(double factor, Array x) {
  for (real& element : x) element = static_cast<real>(factor * static_cast<double>(element));
  return x;
}

std::vector<double> powers_of_ten() {
  return kDouble ? std::vector<double>{1e-300, 1e-160, 1e-20, 1, 1e20, 1e160, 1e300}
                 : std::vector<double>{1e-30, 1e-20, 1e-10, 1, 1e10, 1e20, 1e30};
}

Tensor plain(Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2], {.scale = 1}); }
Tensor stored(Inputs a) { return attention_from_scores(matmul(a[0], a[1], {.transpose_b = true}), a[2]); }

}  // namespace

TEST_CASE("attention: the gradients of huge equal scores") {
  for (double m : {1e5, 1e8, kDouble ? 1e300 : 1e38}) {
    for (const auto& attention : {plain, stored}) {
      INFO("scores of ", m);
      const Evaluated e = evaluate(attention, {one_head({m}), one_head({1, 1}), one_head({1, 3})});
      const Limits close = {tolerance(1e-14, 1e-6), 0};
      check_near(e.value, one_head({2}), close);
      check_near(e.grads[0], one_head({0}), close);
      check_near(e.grads[1], one_head({-m / 2, m / 2}), close);
      check_near(e.grads[2], one_head({0.5, 0.5}), close);
    }
  }
}

TEST_CASE("attention does not change when all scores of a query are shifted") {
  Array q = sample({1, 1, 3, 2}, 1), k = sample({1, 1, 5, 2}, 2, -2, 2);
  for (real& x : q) x = std::round(x * 8) / 8;
  for (real& x : k) x = std::round(x * 8) / 8;
  for (std::size_t t = 0; t < 3; ++t) q(0, 0, t, 1) = 1;  // so that the second column of the keys shifts all scores
  const Array v = sample({1, 1, 5, 3}, 3), dy = sample({1, 1, 3, 3}, 4);
  const double shift = kDouble ? 0x1p46 : 0x1p17;
  for (const auto& attention : {plain, stored}) {
    const Evaluated base = evaluate(attention, {q, k, v}, dy);
    for (double by : {shift, -shift}) {
      Array moved = k;
      for (std::size_t s = 0; s < 5; ++s) moved(0, 0, s, 1) += static_cast<real>(by);
      const Evaluated e = evaluate(attention, {q, moved, v}, dy);
      check_near(e.value, base.value, {tolerance(1e-13, 1e-5), tolerance(1e-14, 1e-6)});
      check_near(e.grads[1], base.grads[1], {tolerance(1e-12, 1e-5), tolerance(1e-14, 1e-6)});
      check_near(e.grads[2], base.grads[2], {tolerance(1e-12, 1e-5), tolerance(1e-14, 1e-6)});
    }
  }
}

TEST_CASE("linear_attention with a denominator below or above the normal numbers") {
  for (double a : {kDouble ? 1e-160 : 1e-20, kDouble ? 1e-200 : 1e-25, kDouble ? 1e200 : 1e25}) {
    INFO("queries and keys of ", a);
    const Evaluated e = evaluate([](Inputs in) { return linear_attention(in[0], in[1], in[2]); },
                                 {one_head({a}), one_head({a, a}), one_head({3, 5})});
    check_near(e.value, one_head({4}), {tolerance(1e-14, 1e-6), 0});
    check_near(e.grads[0], one_head({0}), {0, 0});
    check_near(e.grads[1], one_head({-0.5 / a, 0.5 / a}), {tolerance(1e-14, 1e-6), 0});
    check_near(e.grads[2], one_head({0.5, 0.5}), {tolerance(1e-14, 1e-6), 0});
  }
}

TEST_CASE("linear_attention does not change when queries and keys are scaled") {
  const Array q = sample({2, 4, 3, 5}, 1, 0.1, 1), k = sample({2, 2, 6, 5}, 2, 0.1, 1), v = sample({2, 2, 6, 3}, 3);
  const Array gain = sample({2, 2, 6}, 4), dy = sample({2, 4, 3, 3}, 5);
  const Limits close = {tolerance(1e-12, 2e-5), 0};
  for (const bool causal : {false, true}) {
    for (const bool weighted : {false, true}) {
      const TensorFunction f = [=](Inputs a) {
        return linear_attention(a[0], a[1], a[2], weighted ? Tensor(gain) : Tensor(), {.causal = causal});
      };
      const Evaluated base = evaluate(f, {q, k, v}, dy);
      for (double a : powers_of_ten()) {
        for (double b : powers_of_ten()) {
          INFO("queries by ", a, ", keys by ", b);
          const Evaluated e = evaluate(f, {multiplied(a, q), multiplied(b, k), v}, dy);
          check_near(e.value, base.value, close);
          check_near(multiplied(a, e.grads[0]), base.grads[0], {tolerance(1e-11, 2e-5), tolerance(1e-13, 1e-6)});
          check_near(multiplied(b, e.grads[1]), base.grads[1], {tolerance(1e-11, 2e-5), tolerance(1e-13, 1e-6)});
          check_near(e.grads[2], base.grads[2], close);
        }
      }
    }
  }
}

TEST_CASE("attention scales with its values") {
  const Array q = sample({1, 2, 3, 4}, 1, 0.1, 1), k = sample({1, 1, 5, 4}, 2, 0.1, 1), v = sample({1, 1, 5, 3}, 3);
  const std::vector<TensorFunction> kinds = {
      [](Inputs a) { return scaled_dot_product_attention(a[0], a[1], a[2], {.causal = true}); },
      [](Inputs a) { return linear_attention(a[0], a[1], a[2], {}, {.causal = true}); },
      [](Inputs a) { return separable_attention(a[0], a[1], a[2], {.causal = true}); },
      [](Inputs a) { return hard_attention(a[0], a[1], a[2], {.causal = true}); },
  };
  for (const TensorFunction& f : kinds) {
    const Evaluated base = evaluate(f, {q, k, v});
    for (double c : powers_of_ten()) {
      INFO("values by ", c);
      const Evaluated e = evaluate(f, {q, k, multiplied(c, v)});
      check_near(e.value, multiplied(c, base.value), {tolerance(1e-12, 1e-5), 0});
      for (std::size_t i : {0, 1})
        check_near(multiplied(1 / c, e.grads[i]), base.grads[i], {tolerance(1e-11, 2e-5), tolerance(1e-14, 1e-6)});
      check_near(e.grads[2], base.grads[2], {0, 0});
    }
  }
}

TEST_CASE("separable_attention does not change when the keys of a feature are shifted") {
  Array k = sample({1, 1, 5, 4}, 2);
  for (real& x : k) x = std::round(x * 8) / 8;
  const Array a = sample({1, 1, 3, 4}, 1, 0, 1), v = sample({1, 1, 5, 3}, 3);
  const TensorFunction f = [](Inputs in) { return separable_attention(in[0], in[1], in[2], {.causal = true}); };
  const Evaluated base = evaluate(f, {a, k, v});
  for (double by : {kDouble ? 0x1p48 : 0x1p20, kDouble ? -0x1p48 : -0x1p20}) {
    Array moved = k;
    for (std::size_t s = 0; s < 5; ++s) moved(0, 0, s, 2) += static_cast<real>(by);
    const Evaluated e = evaluate(f, {a, moved, v});
    check_near(e.value, base.value, {0, 0});
    for (std::size_t i = 0; i < 3; ++i) check_near(e.grads[i], base.grads[i], {0, 0});
  }
}
