#include "cases.hpp"

namespace xtape::test {

GradCases attention_grad_cases() {
  using Args = std::span<const Tensor>;
  const Array q = sample({2, 4, 3, 2}, 101), k = sample({2, 2, 5, 2}, 102), v = sample({2, 2, 5, 3}, 103);
  const Array same = sample({2, 2, 3, 3}, 104), qkv = sample({2, 3, 12}, 105);
  const AttentionOptions padded = {.key_padding = padding_mask({4, 2}, 5)};
  const AttentionOptions both = {.causal = true, .key_padding = padding_mask({4, 2}, 5), .scale = 0.7};
  const AttentionOptions dropped = {.causal = true, .dropout = 0.4, .dropout_key = {1, 2, 3}};
  Mask empty_row = causal_mask(3, 5);
  for (std::size_t s = 0; s < 5; ++s) empty_row(1, s) = true;
  const AttentionOptions masked = {.mask = empty_row};
  GradCases cases;
  const auto sdpa = [&](const char* title, const AttentionOptions& o) {
    cases.push_back({"scaled_dot_product_attention", title, {q, k, v}, [o](Args x) {
                       return scaled_dot_product_attention(x[0], x[1], x[2], o);
                     }});
  };
  sdpa("grouped heads", {});
  sdpa("causal, more keys than queries", {.causal = true});
  sdpa("key padding", padded);
  sdpa("causal and padding and scale", both);
  sdpa("mask with an empty row", masked);
  sdpa("dropout", dropped);
  cases.push_back(
      {"scaled_dot_product_attention", "square, for one operand three times", {same, same, same}, [](Args x) {
         return scaled_dot_product_attention(x[0], x[1], x[2]);
       }});
  cases.push_back(
      {"self_attention", "causal", {qkv}, [](Args x) { return self_attention(x[0], 2, {.causal = true}); }});
  cases.push_back({"self_attention", "dropout", {qkv}, [dropped](Args x) { return self_attention(x[0], 2, dropped); }});
  return cases;
}

}  // namespace xtape::test
