// Layers against golden values, with parameters named as in PyTorch.
#include "tables.hpp"

#include <xtape/models/transformer_block.hpp>
#include <xtape/nn/batch_norm.hpp>
#include <xtape/nn/dropout.hpp>
#include <xtape/nn/rms_norm.hpp>

namespace xtape::test {

namespace {

GoldenCase linear_layer(const char* title, const LinearOptions& options) {
  return {std::string("Linear/") + title, [=](Golden& g) {
            Linear layer(g.scope(), 5, 3, options);
            return g.loaded(layer)(g.in("x"));
          }};
}

GoldenCase embedding_layer(const char* title, const EmbeddingOptions& options) {
  return {std::string("Embedding/") + title, [=](Golden& g) {
            Embedding layer(g.scope(), 5, 3, options);
            return g.loaded(layer)(g.integers("ids"));
          }};
}

GoldenCase layer_norm_layer(const char* title, const LayerNormOptions& options) {
  return {std::string("LayerNorm/") + title, [=](Golden& g) {
            LayerNorm layer(g.scope(), 6, options);
            return g.loaded(layer)(g.in("x"));
          }};
}

/// Runs two batches in training, so that the running statistics change twice.
GoldenCase batch_norm_layer(const char* title, const BatchNormOptions& options) {
  return {std::string("BatchNorm/") + title, [=](Golden& g) {
            BatchNorm layer(g.scope(), 4, options);
            const BatchNorm& norm = g.loaded(layer);
            const Tensor y = norm(g.in("first"));
            return Outputs({y, norm(g.in("second"))});
          }};
}

GoldenCase evaluated_batch_norm(const char* title) {
  return {std::string("BatchNorm/") + title, [](Golden& g) {
            BatchNorm layer(g.scope(), 4);
            g.store().eval();
            return g.loaded(layer)(g.in("x"));
          }};
}

GoldenTable other_norms() {
  return {
      batch_norm_layer("training, rows", {}),
      batch_norm_layer("training, sequences", {}),
      batch_norm_layer("momentum", {.momentum = 0.25}),
      batch_norm_layer("cumulative average", {.cumulative = true}),
      batch_norm_layer("no affine", {.affine = false}),
      batch_norm_layer("eps", {.eps = 0.125}),
      evaluated_batch_norm("evaluation, rows"),
      evaluated_batch_norm("evaluation, sequences"),
      {"RMSNorm/rows",
       [](Golden& g) {
         RMSNorm layer(g.scope(), 6);
         return g.loaded(layer)(g.in("x"));
       }},
  };
}

AttentionMasks masks(const Golden& g, bool causal, bool padded) {
  return {.causal = causal, .key_padding = padded ? padding_mask(g.integers("lengths"), 4) : Mask()};
}

GoldenCase attention_layer(const char* title, bool causal, bool padded, bool bias = true) {
  return {std::string("MultiHeadAttention/") + title, [=](Golden& g) {
            MultiHeadAttention layer(g.scope(), {.width = 6, .heads = 2, .bias = bias});
            return g.loaded(layer)(g.in("x"), masks(g, causal, padded));
          }};
}

GoldenCase block(const char* title, bool causal, bool padded) {
  return {std::string("TransformerBlock/") + title, [=](Golden& g) {
            TransformerBlock layer(g.scope(), {.width = 6, .heads = 2, .hidden = 10});
            return g.loaded(layer)(g.in("x"), masks(g, causal, padded));
          }};
}

GoldenTable dropout_layers() {
  return {
      {"Dropout/two calls in training",
       [](Golden& g) {
         Dropout layer(g.scope() / "drop", 0.25);
         const Tensor first = layer(g.in("a"));
         return Outputs({first, layer(g.in("b"))});
       }},
      {"Dropout/evaluation",
       [](Golden& g) {
         Dropout layer(g.scope() / "drop", 0.25);
         g.store().eval();
         return layer(g.in("x"));
       }},
  };
}

}  // namespace

GoldenTable layer_golden_cases() {
  const GoldenTable plain = {
      linear_layer("bias", {}),
      linear_layer("no bias", {.bias = false}),
      embedding_layer("plain", {}),
      embedding_layer("padding row", {.padding = 1}),
      layer_norm_layer("affine", {}),
      layer_norm_layer("no affine", {.affine = false}),
      layer_norm_layer("eps", {.eps = 0.125}),
      attention_layer("plain", false, false),
      attention_layer("causal", true, false),
      attention_layer("key padding", false, true),
      attention_layer("causal and key padding", true, true),
      attention_layer("no bias", true, false, false),
      block("plain", false, false),
      block("causal", true, false),
      block("causal and key padding", true, true),
  };
  return joined({plain, other_norms(), dropout_layers()});
}

TEST_CASE("layers agree with golden values") { check_golden(layer_golden_cases()); }

}  // namespace xtape::test
