// Beam search: finds the most likely sequences, approximately.
#pragma once

#include <xtape/core/tensor.hpp>
#include <xtape/data/sequences.hpp>

#include <functional>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

struct BeamSearchOptions {
  index_t beams = 4;     ///< sequences kept for each source; 1 is greedy search
  index_t start;         ///< first input token
  index_t end;           ///< token that ends a sequence
  index_t longest = 64;  ///< largest number of tokens, without the end token
  /// the score of a sequence is log probability / tokens^power; the count includes the end token
  double length_power = 1;
};

struct Hypothesis {
  std::vector<index_t> tokens;  ///< without start and end tokens
  double log_probability;       ///< of all tokens, the end token included if there is one
  bool ended;                   ///< false if cut at `longest`
};

/// Feeds one more token to every row, ids [B beams, 1]; returns the logits [B beams, 1, V] of the next token.
using BeamStep = std::function<Tensor(const IndexArray& tokens)>;
/// Makes row r continue from a copy of row rows[r], for rows [B beams].
using BeamSelect = std::function<void(const IndexArray& rows)>;

/// Returns for each of `sources` sources the best sequences found, at most `beams`, in order of decreasing score.
/// Throws ValueError for a size below 1, ShapeError for logits of the wrong shape.
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
