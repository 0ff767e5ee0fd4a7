#include "cases.hpp"

namespace xtape::test {

GradCases linear_attention_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array q = sample({2, 4, 3, 2}, 131, 0.1, 1), k = sample({2, 2, 5, 2}, 132, 0.1, 1);
  const Array v = sample({2, 2, 5, 3}, 133), key_weight = sample({2, 2, 5}, 134, -2, 2);
  const LinearAttentionOptions causal = {.causal = true}, padded = {.key_padding = padding_mask({4, 0}, 5)};
  const LinearAttentionOptions both = {.causal = true, .key_padding = padding_mask({4, 2}, 5)};
  GradCases cases;
  const auto linear = [&](const char* title, const LinearAttentionOptions& o) {
    cases.push_back(
        {"linear_attention", title, {q, k, v}, [o](Args a) { return linear_attention(a[0], a[1], a[2], {}, o); }});
    cases.push_back({"linear_attention", std::string(title) + ", key weights", {q, k, v, key_weight}, [o](Args a) {
                       return linear_attention(a[0], a[1], a[2], a[3], o);
                     }});
    cases.push_back(
        {"separable_attention", title, {q, k, v}, [o](Args a) { return separable_attention(a[0], a[1], a[2], o); }});
  };
  linear("grouped heads", {});
  linear("causal, more keys than queries", causal);
  linear("key padding, one sequence all", padded);
  linear("causal and padding", both);
  const Array square = sample({2, 2, 4, 3}, 135, 0.1, 1);
  cases.push_back({"linear_attention", "causal, for one operand three times", {square, square, square}, [](Args a) {
                     return linear_attention(a[0], a[1], a[2], {}, {.causal = true});
                   }});
  cases.push_back({"separable_attention", "causal, for one operand three times", {square, square, square}, [](Args a) {
                     return separable_attention(a[0], a[1], a[2], {.causal = true});
                   }});
  const Array rows = sample({2, 3, 4}, 136), unit = sample({2, 3, 1}, 137);
  cases.push_back({"quadratic_features", "", {rows}, [](Args a) { return quadratic_features(a[0]); }});
  cases.push_back({"quadratic_features", "a unit for each row", {rows}, [unit](Args a) {
                     return quadratic_features(a[0], Tensor(unit));
                   }});
  return cases;
}

}  // namespace xtape::test
