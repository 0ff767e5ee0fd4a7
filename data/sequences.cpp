#include <xtape/core/error.hpp>
#include <xtape/core/random.hpp>
#include <xtape/data/sequences.hpp>

#include <algorithm>
#include <numeric>

namespace xtape {

namespace {

constexpr index_t kBatchesInRun = 32;

}  // namespace

PaddedSequences padded(const std::vector<std::vector<index_t>>& sequences, index_t filler) {
  if (sequences.empty()) throw ValueError("padded", "at least 1 sequence", 0);
  index_t longest = 0;
  for (const auto& sequence : sequences) longest = std::max(longest, std::ssize(sequence));
  PaddedSequences out{full_array<IndexArray>({std::ssize(sequences), longest}, filler),
                      empty_array<IndexArray>({std::ssize(sequences)}),
                      full_array<Mask>({std::ssize(sequences), longest}, true)};
  for (index_t b = 0; b < std::ssize(sequences); ++b) {
    std::copy(sequences[b].begin(), sequences[b].end(), out.ids.data() + b * longest);
    std::fill_n(out.padding.data() + b * longest, sequences[b].size(), false);
    out.lengths.data()[b] = std::ssize(sequences[b]);
  }
  return out;
}

std::vector<index_t> shuffled(index_t n, std::uint64_t seed, std::uint64_t stream) {
  std::vector<index_t> out(n);
  std::iota(out.begin(), out.end(), 0);
  Random random(seed, stream);
  for (index_t i = n - 1; i > 0; --i) std::swap(out[i], out[random.below(i + 1)]);
  return out;
}

LengthBatches::LengthBatches(std::vector<index_t> lengths, index_t batch, std::uint64_t seed)
    : lengths_(std::move(lengths)), batch_(batch), seed_(seed) {
  if (lengths_.empty() || batch < 1)
    throw ValueError("length_batches", "items, and a batch of at least 1", lengths_.size(), batch);
  batches_ = (std::ssize(lengths_) + batch - 1) / batch;
}

std::vector<index_t> LengthBatches::order_of(index_t epoch) const {
  std::vector<index_t> order =
      shuffled(std::ssize(lengths_), seed_, substream(stream_id("length_batches"), static_cast<std::uint64_t>(epoch)));
  const index_t run = kBatchesInRun * batch_, size = std::ssize(order);
  for (index_t first = 0; first < size; first += run)
    std::stable_sort(order.begin() + first, order.begin() + std::min(first + run, size),
                     [&](index_t a, index_t b) { return lengths_[a] < lengths_[b]; });
  return order;
}

std::vector<index_t> LengthBatches::at(index_t step) const {
  if (step < 0) throw ValueError("length_batches", "a step of at least 0", step);
  if (epoch_ != step / batches_) {
    epoch_ = step / batches_;
    order_ = order_of(epoch_);
    turns_ = shuffled(batches_, seed_, substream(stream_id("batch_turns"), static_cast<std::uint64_t>(epoch_)));
  }
  const index_t first = turns_[step % batches_] * batch_;
  const auto begin = order_.begin() + first;
  return {begin, begin + std::min(batch_, std::ssize(order_) - first)};
}

index_t edit_distance(const std::vector<index_t>& a, const std::vector<index_t>& b) {
  std::vector<index_t> row(b.size() + 1);  // distances of the first i symbols of a to each prefix of b
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    index_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const index_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace xtape
