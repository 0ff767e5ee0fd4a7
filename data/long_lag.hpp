// Tasks with long time lags: the answer is shown a known number of steps before it is asked for.
//
// Batches depend on (seed, step) only; row b is equal for every batch size. Sequences of different steps are
// independent, so evaluation uses steps that no training reaches (from kFreshStep on).
#pragma once

#include <xtape/core/shape.hpp>

#include <vector>

namespace xtape {

constexpr index_t kFreshStep = 1'000'000'000;  ///< the largest number of training steps that Args allows
constexpr index_t kNotAsked = -100;            ///< target of a step without a question; losses ignore it

struct AddingOptions {
  index_t steps = 50;  ///< T, at least 2
  std::uint64_t seed = 0;
};

struct AddingBatch {
  std::vector<double> inputs;   ///< [B, T, 2]: a value in [0, 1), and a mark, 0 or 1
  std::vector<double> targets;  ///< [B]: the sum of the two marked values, asked for at the last step
  std::vector<index_t> lags;    ///< [B]: from the earlier mark to the last step
};

/// The adding problem (Hochreiter and Schmidhuber 1997, experiment 4): two of T values are marked. The lag is uniform
/// in 1..T-1, the second mark uniform among the steps after the first. The best constant guess is 1, with a mean
/// squared error of 1/6. Throws ValueError for fewer than 2 steps, a negative step or a batch below 1.
AddingBatch adding_batch(index_t step, index_t batch, const AddingOptions& options = {});

struct LagBatch {
  IndexArray inputs;          ///< [B, T] symbols
  IndexArray targets;         ///< [B, T], kNotAsked at all steps but those of the answer
  std::vector<index_t> lags;  ///< [B]: from a symbol of the answer to the step at which it is asked for
};

struct CopyOptions {
  index_t symbols = 6;   ///< number of different symbols to copy
  index_t length = 4;    ///< number of symbols to copy, N
  index_t longest = 40;  ///< the longest lag, at least N
  std::uint64_t seed = 0;

  index_t steps() const { return longest + length; }  ///< T
  index_t vocab() const { return symbols + 2; }       ///< the symbols, blank, and the sign to recite
};

/// Copying (Hochreiter and Schmidhuber 1997; Arjovsky, Shah, Bengio 2016): N random symbols among blanks must be
/// repeated in the last N steps, of which the first shows the sign to recite. The lag is uniform in N..longest. A
/// uniform guess costs ln(symbols). Throws ValueError for sizes below 1, longest < N, a negative step or a batch
/// below 1.
LagBatch copy_batch(index_t step, index_t batch, const CopyOptions& options = {});

struct RecallOptions {
  index_t keys = 3;
  index_t values = 4;
  index_t noise = 4;   ///< number of different symbols without meaning
  index_t steps = 40;  ///< T, more than there are keys
  std::uint64_t seed = 0;

  /// keys * values pairs (pair (k, v) has id k * values + v), then the noise, then a question for each key.
  index_t vocab() const { return keys * values + noise + keys; }
};

/// Recall by a key: each key is shown once, paired with a random value, at random steps among noise; the last step asks
/// for one of the keys, and its value is the answer. The lag is uniform in 1..T-1. A uniform guess costs ln(values).
/// Throws ValueError for sizes below 1, T <= keys, a negative step or a batch below 1.
LagBatch recall_batch(index_t step, index_t batch, const RecallOptions& options = {});

}  // namespace xtape
