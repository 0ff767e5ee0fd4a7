// Every kind of attention, and the models built with them, against golden values.
#include "tables.hpp"

#include <xtape/models/decoder_block.hpp>

namespace xtape::test {

namespace {

struct Variant {
  const char* title;
  bool causal, padded;
};
constexpr Variant kVariants[] = {{"plain", false, false},
                                 {"causal", true, false},
                                 {"key padding", false, true},
                                 {"causal and key padding", true, true}};

Mask padding_of(Golden& g, const Variant& v) { return v.padded ? padding_mask(g.integers("lengths"), 5) : Mask(); }

GoldenTable op_cases() {
  GoldenTable out;
  for (const Variant& v : kVariants) {
    const std::string title = v.title;
    const auto linear = [v](Golden& g) { return LinearAttentionOptions{v.causal, padding_of(g, v)}; };
    const auto masks = [v](Golden& g) { return AttentionOptions{.causal = v.causal, .key_padding = padding_of(g, v)}; };
    out.push_back({"linear_attention/" + title,
                   [=](Golden& g) { return linear_attention(g.in("q"), g.in("k"), g.in("v"), {}, linear(g)); }});
    out.push_back({"linear_attention/" + title + ", gains", [=](Golden& g) {
                     return linear_attention(g.in("q"), g.in("k"), g.in("v"), g.in("gain"), linear(g));
                   }});
    out.push_back({"separable_attention/" + title,
                   [=](Golden& g) { return separable_attention(g.in("q"), g.in("k"), g.in("v"), linear(g)); }});
    out.push_back({"attention_from_scores/" + title,
                   [=](Golden& g) { return attention_from_scores(g.in("scores"), g.in("v"), masks(g)); }});
    out.push_back({"hard_attention/" + title,
                   [=](Golden& g) { return hard_attention(g.in("q"), g.in("k"), g.in("v"), masks(g)); }});
  }
  out.push_back(
      {"additive_scores/grouped heads", [](Golden& g) { return additive_scores(g.in("q"), g.in("k"), g.in("w")); }});
  out.push_back({"quadratic_features/rows", [](Golden& g) { return quadratic_features(g.in("x")); }});
  out.push_back({"split_heads/inner columns", [](Golden& g) { return split_heads(g.in("x"), 2, 3, 2); }});
  out.push_back({"join_heads/heads", [](Golden& g) { return join_heads(g.in("x")); }});
  out.push_back({"rotary/from a start", [](Golden& g) { return rotary(g.in("x"), {.offset = 3}); }});
  return out;
}

GoldenCase attention(const std::string& title, const AttentionConfig& form) {
  return {"MultiHeadAttention/" + title, [=](Golden& g) {
            MultiHeadAttention layer(g.scope(), {.width = 8, .heads = 4, .attention = form});
            return g.loaded(layer)(g.in("x"), {.causal = true, .key_padding = padding_mask(g.integers("lengths"), 4)});
          }};
}

GoldenTable layer_cases() {
  GoldenTable out;
  for (const char* name : {"mqa", "gqa", "additive", "separable", "quadratic", "elu", "relu", "rff", "prf", "argmax"})
    out.push_back(attention(name, attention_config(name, 4)));
  out.push_back(attention("rotary", {.positions = AttentionPositions::rotary}));
  out.push_back(attention("alibi", {.positions = AttentionPositions::alibi}));
  out.push_back(attention("wide heads", {.head_width = 3, .value_width = 5}));
  out.push_back({"MultiHeadAttention/memory", [](Golden& g) {
                   MultiHeadAttention layer(g.scope(), {.width = 6, .heads = 2});
                   return g.loaded(layer)(g.in("x"), g.in("memory"),
                                          {.key_padding = padding_mask(g.integers("lengths"), 4)});
                 }});
  out.push_back({"DecoderBlock/causal and memory padding", [](Golden& g) {
                   DecoderBlock layer(g.scope(), {.width = 6, .heads = 2, .hidden = 10});
                   return g.loaded(layer)(g.in("x"), g.in("memory"), {.causal = true},
                                          {.key_padding = padding_mask(g.integers("lengths"), 4)});
                 }});
  return out;
}

GoldenCase classifier(const std::string& title, Pooling pooling) {
  return {"TransformerClassifier/" + title, [=](Golden& g) {
            TransformerClassifier model(
                g.scope(),
                {.vocab = 7, .classes = 3, .context = 4, .width = 6, .heads = 2, .hidden = 10, .pooling = pooling});
            return g.loaded(model)(g.integers("ids"), padding_mask(g.integers("lengths"), 4));
          }};
}

GoldenCase past(const std::string& title, const AttentionRNNOptions& options) {
  return {"AttentionRNN/" + title, [=](Golden& g) {
            AttentionRNN layer(g.scope(), 3, 4, options);
            return g.loaded(layer)(g.in("x"));
          }};
}

template <class Model>
Tensor of_source(Golden& g, Model& model) {
  return g.loaded(model)(g.integers("source"), padding_mask(g.integers("lengths"), 4), g.integers("target"));
}

GoldenTable model_cases() {
  return {
      classifier("mean", Pooling::mean),
      classifier("first position", Pooling::first),
      {"Seq2SeqTransformer/padded source",
       [](Golden& g) {
         Seq2SeqTransformer model(g.scope(), {.source_vocab = 7,
                                              .target_vocab = 5,
                                              .context = 4,
                                              .width = 6,
                                              .heads = 2,
                                              .encoder_layers = 1,
                                              .decoder_layers = 2,
                                              .hidden = 10});
         return of_source(g, model);
       }},
      {"Seq2SeqRNN/padded source",
       [](Golden& g) {
         Seq2SeqRNN model(g.scope(), {.source_vocab = 7, .target_vocab = 5, .embedding = 3, .hidden = 4});
         return of_source(g, model);
       }},
      past("dot", {.score = ScoreKind::dot}),
      past("scaled dot, gated", {.score = ScoreKind::scaled_dot, .gated = true}),
      past("additive", {.score = ScoreKind::additive}),
  };
}

}  // namespace

GoldenTable attention_kinds_golden_cases() { return joined({op_cases(), layer_cases(), model_cases()}); }

TEST_CASE("every kind of attention agrees with golden values") { check_golden(attention_kinds_golden_cases()); }

}  // namespace xtape::test
