#include "cases.hpp"

namespace xtape::test {

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

}  // namespace xtape::test
