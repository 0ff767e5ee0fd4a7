// Beam search: the most likely sequences, approximately.
#pragma once

#include <xtape/core/tensor.hpp>
#include <xtape/data/sequences.hpp>

#include <functional>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

struct BeamSearchOptions {
  index_t beams = 4;        ///< sequences kept for each source; 1 is greedy search
  index_t start;            ///< token before the first
  index_t end;              ///< token that ends a sequence
  index_t longest = 64;     ///< tokens at most, the end not counted
  double length_power = 1;  ///< finished sequences are compared by log probability / tokens^power, the end counted
};

struct Hypothesis {
  std::vector<index_t> tokens;  ///< without start and end
  double log_probability;       ///< of all tokens, the end included if it was reached
  bool ended;                   ///< false: cut at `longest`
};

/// Logits [B beams, 1, V] after one more token in every row, ids [B beams, 1].
using BeamStep = std::function<Tensor(const IndexArray& tokens)>;
/// Row r goes on as a copy of row rows[r], [B beams].
using BeamSelect = std::function<void(const IndexArray& rows)>;

/// For each of `sources` sources the best sequences found, best first (at most `beams`). Throws ValueError for a number
/// below 1, ShapeError for logits of another shape.
std::vector<std::vector<Hypothesis>> beam_search(index_t sources, const BeamStep& step, const BeamSelect& select,
                                                 const BeamSearchOptions& options);

/// The best target sequence of each source by beam search with an encoder-decoder (Seq2SeqTransformer, Seq2SeqRNN).
/// Takes `batch` sources at a time, in order, padded with `padding`. Throws as beam_search and the model do, and
/// ValueError for a batch below 1.
template <class Model>
std::vector<std::vector<index_t>> best_sequences(const Model& model, const std::vector<std::vector<index_t>>& sources,
                                                 index_t padding, const BeamSearchOptions& options,
                                                 index_t batch = 100) {
  std::vector<std::vector<index_t>> out;
  for (const std::vector<std::vector<index_t>>& group : groups_of(batch, sources)) {
    const PaddedSequences source = padded(group, padding);
    auto decoding = model.start(source.ids, source.padding, options.beams);
    const auto found = beam_search(
        std::ssize(group), [&](const IndexArray& tokens) { return model.step(tokens, decoding); },
        [&](const IndexArray& rows) { decoding.select(rows); }, options);
    for (const std::vector<Hypothesis>& best : found) out.push_back(best.front().tokens);
  }
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
