// Batches of sequences of different lengths.
#pragma once

#include <xtape/core/error.hpp>
#include <xtape/core/shape.hpp>

#include <algorithm>
#include <vector>

namespace xtape {

/// A batch of sequences, padded on the right.
struct PaddedSequences {
  IndexArray ids;      ///< [B, T]; T is the longest length
  IndexArray lengths;  ///< [B]
  Mask padding;        ///< [B, T], true from each length on
};

/// Pads with `filler`. Throws ValueError if there are no sequences.
PaddedSequences padded(const std::vector<std::vector<index_t>>& sequences, index_t filler);

/// The items in groups of `size`, in order; the last group may be smaller. Throws ValueError for a size below 1.
template <class Item>
std::vector<std::vector<Item>> groups_of(index_t size, const std::vector<Item>& items) {
  if (size < 1) throw ValueError("groups_of", "groups of at least 1 item", size);
  std::vector<std::vector<Item>> out;
  for (auto first = items.begin(); first != items.end(); first += std::ssize(out.back()))
    out.emplace_back(first, first + std::min<std::ptrdiff_t>(size, items.end() - first));
  return out;
}

/// A random permutation of 0..n-1 that depends on (seed, stream) only (Fisher and Yates).
std::vector<index_t> shuffled(index_t n, std::uint64_t seed, std::uint64_t stream);

/// The batches of an epoch over items of different lengths, in random order. Each batch holds items of similar length
/// to reduce padding: the shuffled items are split into groups of 32 batches, and each group is sorted by length. The
/// last batch may be smaller. Throws ValueError if there are no items or the batch is below 1.
class LengthBatches {
 public:
  LengthBatches(std::vector<index_t> lengths, index_t batch, std::uint64_t seed);

  index_t batches() const { return batches_; }  ///< number of batches in an epoch
  /// The items in the batch of a step; the epoch is step / batches(). Depends on (seed, step) only.
  std::vector<index_t> at(index_t step) const;

 private:
  std::vector<index_t> order_of(index_t epoch) const;

  std::vector<index_t> lengths_;
  index_t batch_;
  std::uint64_t seed_;
  index_t batches_;
  mutable index_t epoch_ = -1;  // the epoch of the cached order
  mutable std::vector<index_t> order_, turns_;
};

/// The edit distance: the smallest number of insertions, deletions and substitutions (Levenshtein 1966).
index_t edit_distance(const std::vector<index_t>& a, const std::vector<index_t>& b);

}  // namespace xtape
