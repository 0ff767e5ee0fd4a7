#include <xtape/core/error.hpp>
#include <xtape/core/ops/concat.hpp>
#include <xtape/core/ops/indexing.hpp>
#include <xtape/core/ops/mask.hpp>
#include <xtape/core/ops/score_attention.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/core/ops/softmax.hpp>
#include <xtape/core/ops/unary.hpp>
#include <xtape/models/padding.hpp>
#include <xtape/models/seq2seq_rnn.hpp>
#include <xtape/nn/init.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Number of unpadded steps of each source, [B]. Throws ValueError unless the padding is on the right.
IndexArray lengths_of(const Mask& padding) {
  if (padding.dimension() != 2) return {};
  IndexArray out = empty_array<IndexArray>({shape_of(padding)[0]});
  const index_t steps = shape_of(padding)[1];
  for (index_t b = 0; b < numel(out); ++b) {
    const bool* row = padding.data() + b * steps;
    const bool* end = std::find(row, row + steps, true);
    if (std::find(end, row + steps, false) != row + steps)
      throw ValueError("seq2seq_rnn", "padding on the right", "steps after it");
    out.data()[b] = end - row;
  }
  return out;
}

/// Row indices that repeat each row `beams` times: 0, 0, ..., 1, 1, ...
IndexArray repeated_rows(index_t rows, index_t beams) {
  IndexArray out = empty_array<IndexArray>({rows * beams});
  for (index_t i = 0; i < rows * beams; ++i) out.data()[i] = i / beams;
  return out;
}

/// Gathers rows of the first axis of x, which may have any number of axes.
Tensor taken(const Tensor& x, const IndexArray& rows) {
  Shape shape = x.shape();
  shape[0] = numel(rows);
  return reshape(embedding(reshape(x, {x.size(0), -1}), rows), shape);
}

/// Softmax of scores [B, 1, 1, S] over the positions that are not padding, [B, S].
Tensor seen_softmax(const Tensor& scores, const Mask& padding) {
  const Tensor rows = reshape(scores.detach(), {scores.size(0), scores.size(3)});
  return softmax(padding.dimension() > 0 ? masked_fill(rows, padding, -kInfinity) : rows);
}

}  // namespace

Seq2SeqRNN::Seq2SeqRNN(const Scope& scope, const Seq2SeqRNNConfig& c)
    : config_(c),
      source_embedding_(scope / "source_embedding", c.source_vocab, c.embedding),
      target_embedding_(scope / "target_embedding", c.target_vocab, c.embedding),
      source_dropout_(scope / "source_dropout", c.dropout),
      target_dropout_(scope / "target_dropout", c.dropout),
      encoder_(scope / "encoder", c.embedding, c.hidden, {.bidirectional = true}),
      bridge_(scope / "bridge", c.hidden, c.hidden),
      query_proj_(scope / "query_proj", c.hidden, c.hidden, {.bias = false}),
      key_proj_(scope / "key_proj", 2 * c.hidden, c.hidden, {.bias = false}),
      score_weight_(scope.parameter("score_weight", {1, c.hidden}, init::uniform_fan_in(c.hidden))),
      decoder_(scope / "decoder", c.embedding + 2 * c.hidden, c.hidden),
      head_dropout_(scope / "head_dropout", c.dropout),
      head_(scope / "head", 3 * c.hidden + c.embedding, c.target_vocab) {}

Seq2SeqRNN::Decoding Seq2SeqRNN::start(const IndexArray& source, const Mask& source_padding, index_t beams) const {
  if (source.dimension() != 2) throw ShapeError("seq2seq_rnn", "a source [B, S]", source.shape());
  if (beams < 1) throw ValueError("seq2seq_rnn", "at least 1 beam", beams);
  const Tensor x = without_padding("seq2seq_rnn", source_dropout_(source_embedding_(source)), source_padding);
  const RecurrentOutput encoded = encoder_(x, {}, lengths_of(source_padding));
  Decoding out = {encoded.y, key_proj_(encoded.y), source_padding, tanh(bridge_(encoded.state.h[1]))};
  if (beams > 1) {
    const IndexArray rows = repeated_rows(encoded.y.size(0), beams);
    out.memory = taken(out.memory, rows);
    out.keys = taken(out.keys, rows);
    out.state = taken(out.state, rows);
    if (source_padding.dimension() == 2) {
      out.source_padding = empty_array<Mask>({numel(rows), x.size(1)});
      for (index_t i = 0; i < numel(rows); ++i)
        for (index_t s = 0; s < x.size(1); ++s) out.source_padding(i, s) = source_padding(rows.data()[i], s);
    }
  }
  out.memory = unsqueeze(out.memory, 1);
  out.keys = unsqueeze(out.keys, 1);
  return out;
}

Tensor Seq2SeqRNN::run(const IndexArray& target, Decoding& decoding, std::vector<Tensor>* weights) const {
  if (target.dimension() != 2) throw ShapeError("seq2seq_rnn", "a target [B, T]", target.shape());
  const Tensor inputs = target_dropout_(target_embedding_(target));
  const AttentionOptions padded = {.key_padding = decoding.source_padding};
  const index_t batch = inputs.size(0);
  std::vector<Tensor> outputs;
  for (index_t t = 0; t < inputs.size(1); ++t) {
    const Tensor y = squeeze(slice(inputs, 1, t, t + 1), {1});
    const Tensor query = reshape(query_proj_(decoding.state), {batch, 1, 1, config_.hidden});
    const Tensor scores = additive_scores(query, decoding.keys, score_weight_, padded);
    if (weights) weights->push_back(seen_softmax(scores, decoding.source_padding));
    const Tensor context = reshape(attention_from_scores(scores, decoding.memory, padded), {batch, 2 * config_.hidden});
    decoding.state = decoder_(concat({y, context}, 1), decoding.state);
    outputs.push_back(concat({decoding.state, context, y}, 1));
  }
  return head_(head_dropout_(stack(outputs, 1)));
}

Tensor Seq2SeqRNN::step(const IndexArray& target, Decoding& decoding) const { return run(target, decoding, nullptr); }

Array Seq2SeqRNN::attention_to_source(const IndexArray& source, const Mask& source_padding,
                                      const IndexArray& target) const {
  Decoding decoding = start(source, source_padding);
  std::vector<Tensor> weights;
  run(target, decoding, &weights);
  return stack(weights, 1).value();
}

Tensor Seq2SeqRNN::operator()(const IndexArray& source, const Mask& source_padding, const IndexArray& target) const {
  Decoding decoding = start(source, source_padding);
  return step(target, decoding);
}

void Seq2SeqRNN::Decoding::select(const IndexArray& rows) { state = taken(state, rows); }

}  // namespace xtape::inline XTAPE_DTYPE
