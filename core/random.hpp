// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// A number depends only on (seed, stream, position). Streams have names, so adding a parameter or a dropout layer does
// not change the initial values and masks of the others.
#pragma once

#include <xtape/core/config.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace xtape {

/// 64-bit id of a stream name (FNV-1a, then mixed).
std::uint64_t stream_id(std::string_view name);

/// Id of sub-stream `number` of a stream: one for each call of a dropout layer, or for each epoch's order.
std::uint64_t substream(std::uint64_t stream, std::uint64_t number);

/// Fills `out` with 32-bit random words: word i is word i%4 of the Philox block `first_block + i/4`.
void random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_block, std::span<std::uint32_t> out);

/// What one random draw of an op depends on (a dropout mask, random features): equal keys give equal numbers.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< which layer
  std::uint64_t call = 0;    ///< which call of that layer
};

/// The keys of one layer: each call gets the next one. Copies share the counter.
class RandomKeyStream {
 public:
  RandomKeyStream() = default;
  RandomKeyStream(std::uint64_t seed, std::uint64_t stream, std::shared_ptr<std::uint64_t> calls)
      : seed_(seed), stream_(stream), calls_(std::move(calls)) {}

  RandomKey next() { return {seed_, stream_, (*calls_)++}; }

 private:
  std::uint64_t seed_ = 0;
  std::uint64_t stream_ = 0;
  std::shared_ptr<std::uint64_t> calls_;
};

/// The state of a sequential reader.
struct RandomPosition {
  std::uint64_t block = 0;           ///< the next Philox block
  int left = 0;                      ///< unused 32-bit words of the previous block: 0 or 2
  std::optional<double> spare = {};  ///< the second number of the last pair of normal numbers
};

/// A sequential reader of one stream.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  Random(std::uint64_t seed, std::string_view stream_name) : Random(seed, stream_id(stream_name)) {}

  std::uint64_t bits();                     ///< 64 random bits
  double uniform();                         ///< in [0, 1), 53 random bits
  double uniform(double low, double high);  ///< in [low, high)
  double normal();                          ///< mean 0, standard deviation 1 (Box and Muller 1958)
  index_t below(index_t bound);             ///< in 0..bound-1 without bias; throws ValueError for bound < 1

  RandomPosition position() const;
  /// Continues from a position of the same stream. Throws ValueError for a position that no reader can have.
  void seek(const RandomPosition& position);

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  std::uint32_t words_[4] = {};
  int left_ = 0;
  std::optional<double> spare_;
};

}  // namespace xtape
