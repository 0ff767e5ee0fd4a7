// Beam search: finds the most likely sequences, approximately.
#pragma once

#include <xtape/core/tensor.hpp>
#include <xtape/data/sequences.hpp>

#include <functional>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

struct BeamSearchOptions {
  index_t beams = 4;     ///< sequences kept for each source; 1 is greedy search, which ends with the first end token
  index_t start;         ///< first input token
  index_t end;           ///< token that ends a sequence
  index_t longest = 64;  ///< largest number of tokens, without the end token
  /// the score of a sequence is log probability / tokens^power; the count includes the end token if there is one
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

/// Returns for each of `sources` sources the best sequences found, in order of decreasing score: at least one and at
/// most `beams`, each with a probability above 0.
///
/// Each step extends every live sequence by each token. Of all extensions, those among the `beams` most likely that end
/// are finished, and the `beams` most likely that do not end stay live. Finished sequences beyond the best `beams` are
/// dropped. With `longest` tokens the live ones are cut, and count as finished. The search for a source is over when
/// none is live, or when `beams` are finished and no continuation of a live one can have a larger score than the worst
/// of them. So with (V-1)^longest beams, at least 2, the result is the best of all sequences.
///
/// A NaN logit counts as minus infinity. Throws ValueError for a size below 1, a length power that is not finite, or a
/// live sequence whose largest logit is not finite; ShapeError for logits of the wrong shape.
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
