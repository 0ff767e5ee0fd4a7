// Gradients of every layer and model against central differences, in double.
#include "layer_gradcheck.hpp"

#include <xtape/core/ops/concat.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/models/char_rnn.hpp>
#include <xtape/models/decoder_block.hpp>
#include <xtape/models/seq2seq_rnn.hpp>
#include <xtape/models/seq2seq_transformer.hpp>
#include <xtape/models/transformer_classifier.hpp>
#include <xtape/nn/attention_rnn.hpp>
#include <xtape/nn/batch_norm.hpp>
#include <xtape/nn/dropout.hpp>
#include <xtape/nn/gru.hpp>
#include <xtape/nn/lstm.hpp>
#include <xtape/nn/rms_norm.hpp>
#include <xtape/nn/rnn.hpp>

#include <cstdio>
#include <memory>

namespace xtape::test {

namespace {

using Args = std::span<const Tensor>;

/// Returns a builder of Layer(scope, arguments...); the layer is called with all inputs.
template <class Layer, class Call, class... Arguments>
LayerBuilder builder(const Call& call, const Arguments&... arguments) {
  return [=](const Scope& scope) -> TensorFunction {
    const auto layer = std::make_shared<Layer>(scope, arguments...);
    return [layer, call](Args x) { return call(*layer, x); };
  };
}

constexpr auto of_one = [](const auto& layer, Args x) { return layer(x[0]); };

std::vector<LayerCase> simple_layers() {
  const Array x = sample({2, 3, 5}, 1);
  const IndexArray ids = {{0, 1, 1, 4}, {2, 1, 0, 0}};
  const auto looked_up = [ids](const Embedding& layer, Args) { return layer(ids); };
  return {
      {"Linear", "bias", {x}, builder<Linear>(of_one, 5, 3)},
      {"Linear", "no bias", {x}, builder<Linear>(of_one, 5, 3, LinearOptions{.bias = false})},
      {"Embedding", "repeated rows", {}, builder<Embedding>(looked_up, 5, 3)},
      {"LayerNorm", "affine", {x}, builder<LayerNorm>(of_one, 5)},
      {"LayerNorm", "no affine", {x}, builder<LayerNorm>(of_one, 5, LayerNormOptions{.affine = false})},
      {"RMSNorm", "gain", {x}, builder<RMSNorm>(of_one, 5)},
      {"BatchNorm", "sequences in training", {x}, builder<BatchNorm>(of_one, 5)},
      {"Dropout", "in training", {x}, builder<Dropout>(of_one, 0.3)},
  };
}

std::vector<LayerCase> attention_layers() {
  const Array x = sample({2, 4, 6}, 2);
  const AttentionMasks causal = {.causal = true}, padded = {.key_padding = padding_mask({4, 2}, 4)};
  const AttentionMasks both = {.causal = true, .key_padding = padding_mask({4, 2}, 4)};
  const auto attention = [&](const char* title, const AttentionMasks& masks, double dropout = 0) {
    const auto call = [masks](const MultiHeadAttention& layer, Args a) { return layer(a[0], masks); };
    return LayerCase{
        "MultiHeadAttention",
        title,
        {x},
        builder<MultiHeadAttention>(call, MultiHeadAttentionOptions{.width = 6, .heads = 2, .dropout = dropout})};
  };
  const auto block = [&](const char* title, const AttentionMasks& masks, double dropout = 0) {
    const auto call = [masks](const TransformerBlock& layer, Args a) { return layer(a[0], masks); };
    return LayerCase{"TransformerBlock",
                     title,
                     {x},
                     builder<TransformerBlock>(
                         call, TransformerBlockOptions{.width = 6, .heads = 2, .hidden = 10, .dropout = dropout})};
  };
  return {attention("plain", {}),       attention("causal", causal),       attention("key padding", padded),
          attention("both", both),      attention("dropout", causal, 0.3), block("causal", causal),
          block("key padding", padded), block("dropout", causal, 0.3)};
}

/// Self-attention and cross-attention of every kind.
std::vector<LayerCase> attention_kinds() {
  const Array x = sample({2, 3, 8}, 7), memory = sample({2, 4, 8}, 8);
  const AttentionMasks causal = {.causal = true, .key_padding = padding_mask({3, 2}, 3)};
  const AttentionMasks padded = {.key_padding = padding_mask({4, 2}, 4)};
  std::vector<std::pair<std::string, AttentionConfig>> forms;
  for (const std::string& name : attention_config_names()) forms.emplace_back(name, attention_config(name, 4));
  forms.push_back({"rotary", {.positions = AttentionPositions::rotary}});
  forms.push_back({"alibi", {.positions = AttentionPositions::alibi}});
  forms.push_back({"wide heads", {.head_width = 3, .value_width = 5}});
  std::vector<LayerCase> out;
  for (const auto& [name, form] : forms) {
    const MultiHeadAttentionOptions options = {.width = 8, .heads = 4, .attention = form};
    out.push_back(
        {"MultiHeadAttention",
         name,
         {x},
         builder<MultiHeadAttention>([causal](const auto& layer, Args a) { return layer(a[0], causal); }, options)});
    out.push_back({"MultiHeadAttention",
                   name + " to a memory",
                   {x, memory},
                   builder<MultiHeadAttention>(
                       [padded](const auto& layer, Args a) { return layer(a[0], a[1], padded); }, options)});
  }
  out.push_back({"DecoderBlock",
                 "causal and memory padding",
                 {x, memory},
                 builder<DecoderBlock>(
                     [padded](const auto& layer, Args a) { return layer(a[0], a[1], {.causal = true}, padded); },
                     TransformerBlockOptions{.width = 8, .heads = 2, .hidden = 10})});
  for (const ScoreKind score : {ScoreKind::dot, ScoreKind::scaled_dot, ScoreKind::additive})
    for (const bool gated : {false, true})
      out.push_back({"AttentionRNN",
                     gated ? "gated" : "vanilla",
                     {sample({2, 4, 3}, 9)},
                     builder<AttentionRNN>(of_one, 3, 4, AttentionRNNOptions{.score = score, .gated = gated})});
  return out;
}

std::vector<LayerCase> sequence_models() {
  const IndexArray source = {{1, 2, 6, 3}, {4, 5, 0, 0}}, target = {{1, 3, 4}, {1, 2, 0}};
  const Mask padding = padding_mask({4, 2}, 4);
  const auto translate = [=](const auto& model, Args) { return model(source, padding, target); };
  const auto classify = [=](const TransformerClassifier& model, Args) { return model(source, padding); };
  const Seq2SeqTransformerConfig config = {.source_vocab = 7,
                                           .target_vocab = 5,
                                           .context = 4,
                                           .width = 4,
                                           .heads = 2,
                                           .encoder_layers = 1,
                                           .decoder_layers = 1};
  TransformerClassifierConfig classifier = {
      .vocab = 7, .classes = 3, .context = 4, .width = 4, .heads = 2, .layers = 1};
  std::vector<LayerCase> out = {
      {"Seq2SeqTransformer", "padded source", {}, builder<Seq2SeqTransformer>(translate, config)},
      {"Seq2SeqRNN",
       "padded source",
       {},
       builder<Seq2SeqRNN>(translate,
                           Seq2SeqRNNConfig{.source_vocab = 7, .target_vocab = 5, .embedding = 3, .hidden = 4})},
      {"TransformerClassifier", "mean", {}, builder<TransformerClassifier>(classify, classifier)}};
  classifier.pooling = Pooling::first;
  out.push_back({"TransformerClassifier", "first position", {}, builder<TransformerClassifier>(classify, classifier)});
  return out;
}

/// Outputs of all steps and last states as one vector.
template <class Output>
Tensor all_of(const Output& out) {
  std::vector<Tensor> parts = {reshape(out.y, {-1})};
  for (const Tensor& h : out.state.h) parts.push_back(reshape(h, {-1}));
  return concat(parts, 0);
}

std::vector<LayerCase> recurrent_layers() {
  const Array x = sample({2, 3, 4}, 3), row = sample({2, 4}, 4), h = sample({2, 3}, 5), c = sample({2, 3}, 6);
  const auto sequence = [](const auto& layer, Args a) { return all_of(layer(a[0], {}, IndexArray({3, 2}))); };
  const auto step = [](const auto& cell, Args a) { return cell(a[0], a[1]); };
  const auto lstm_step = [](const LSTMCell& cell, Args a) {
    const LstmStep next = cell(a[0], {a[1], a[2]});
    return concat({next.h, next.c}, 1);
  };
  return {
      {"RNN",
       "two layers, both ways",
       {x},
       builder<RNN>(sequence, 4, 3, RNNOptions{.layers = 2, .bidirectional = true})},
      {"GRU",
       "two layers, both ways",
       {x},
       builder<GRU>(sequence, 4, 3, GRUOptions{.layers = 2, .bidirectional = true})},
      {"LSTM",
       "two layers, both ways",
       {x},
       builder<LSTM>(sequence, 4, 3, LSTMOptions{.layers = 2, .bidirectional = true})},
      {"RNNCell", "", {row, h}, builder<RNNCell>(step, 4, 3)},
      {"GRUCell", "", {row, h}, builder<GRUCell>(step, 4, 3)},
      {"LSTMCell", "", {row, h, c}, builder<LSTMCell>(lstm_step, 4, 3)},
  };
}

std::vector<LayerCase> models() {
  const IndexArray ids = {{0, 1, 1, 4}, {2, 1, 0, 0}};
  const auto call = [ids](const TransformerLM& model, Args) { return model(ids); };
  const auto logits = [ids](const CharRNN& model, Args) { return model(ids).logits; };
  const TransformerLMConfig config = {.vocab = 5, .context = 4, .width = 4, .heads = 2, .layers = 2};
  TransformerLMConfig tied = config;
  tied.tied_head = true;
  tied.positions = Positions::sinusoidal;
  return {{"TransformerLM", "learned positions", {}, builder<TransformerLM>(call, config)},
          {"TransformerLM", "tied head, sinusoidal positions", {}, builder<TransformerLM>(call, tied)},
          {"CharRNN", "lstm", {}, builder<CharRNN>(logits, CharRNNConfig{.vocab = 5, .embedding = 3, .hidden = 4})}};
}

}  // namespace

std::vector<LayerCase> layer_grad_cases() {
  std::vector<LayerCase> all;
  for (const auto& table :
       {simple_layers, attention_layers, attention_kinds, recurrent_layers, models, sequence_models})
    for (LayerCase& entry : table()) all.push_back(std::move(entry));
  return all;
}

#ifdef XTAPE_DOUBLE
TEST_CASE("the gradients of every layer agree with central differences") {
  double worst = 0;
  for (const LayerCase& entry : layer_grad_cases()) {
    const GradCheckResult result = layer_gradcheck(entry);
    INFO(entry.layer, " / ", entry.title, " / ", result.where);
    CHECK(result.worst < 1e-7);
    worst = std::max(worst, result.worst);
  }
  std::printf("gradient checks of layers: worst error %.2e\n", worst);
}
#endif

}  // namespace xtape::test
