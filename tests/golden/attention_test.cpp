// Attention ops against golden values.
#include "tables.hpp"

namespace xtape::test {

namespace {

/// `padded_keys` is the number of keys of a case with key padding, else 0.
GoldenCase heads(const std::string& title, const AttentionOptions& options, index_t padded_keys = 0,
                 bool masked = false) {
  return {"scaled_dot_product_attention/" + title, [=](Golden& g) {
            AttentionOptions o = options;
            if (padded_keys) o.key_padding = padding_mask(g.integers("lengths"), padded_keys);
            if (masked) o.mask = g.mask("mask");
            return scaled_dot_product_attention(g.in("q"), g.in("k"), g.in("v"), o);
          }};
}

GoldenCase packed(const std::string& title, index_t heads, bool causal, bool padded = false) {
  return {"self_attention/" + title, [=](Golden& g) {
            AttentionOptions o = {.causal = causal};
            if (padded) o.key_padding = padding_mask(g.integers("lengths"), 4);
            return self_attention(g.in("qkv"), heads, o);
          }};
}

}  // namespace

GoldenTable attention_golden_cases() {
  return {
      heads("one key head for each", {}),
      heads("grouped heads", {}),
      heads("one key head for all", {}),
      heads("causal", {.causal = true}),
      heads("causal, more keys than queries", {.causal = true}),
      heads("causal, more queries than keys", {.causal = true}),
      heads("key padding", {}, 5),
      heads("mask with an empty row", {}, 0, true),
      heads("mask for each sequence", {}, 0, true),
      heads("everything", {.causal = true, .scale = 0.75}, 5, true),
      heads("more than one block", {.causal = true}),
      heads("dropout", {.dropout = 0.25, .dropout_key = {1, 2, 3}}),
      packed("plain", 2, false),
      packed("causal", 2, true),
      packed("key padding", 3, false, true),
      packed("causal and key padding", 2, true, true),
  };
}

TEST_CASE("attention agrees with golden values") { check_golden(attention_golden_cases()); }

}  // namespace xtape::test
