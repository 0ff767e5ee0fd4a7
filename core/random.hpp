// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// A number depends only on (seed, stream, position). Streams have names, so the initial value of one parameter or the
// mask of one dropout layer does not change when another is added before it.
#pragma once

#include <xtape/core/config.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace xtape {

/// 64-bit id of a stream name (FNV-1a, then mixed).
std::uint64_t stream_id(std::string_view name);

/// Id of sub-stream `number` of a stream: the mask of the nth call of a dropout layer, the nth epoch's order.
std::uint64_t substream(std::uint64_t stream, std::uint64_t number);

/// Fills `out` with 32-bit random words: word i is word i%4 of the Philox block `first_block + i/4`.
void random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_block, std::span<std::uint32_t> out);

/// Where a reader of a stream stands.
struct RandomPosition {
  std::uint64_t block = 0;           ///< the next Philox block
  int left = 0;                      ///< 32-bit words of the block before that are still to be used
  std::optional<double> spare = {};  ///< the second number of the last pair of normal ones
};

/// A sequential reader of one stream.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  Random(std::uint64_t seed, std::string_view stream_name) : Random(seed, stream_id(stream_name)) {}

  std::uint64_t bits();                     ///< 64 random bits
  double uniform();                         ///< in [0, 1), 53 random bits
  double uniform(double low, double high);  ///< in [low, high)
  double normal();                          ///< mean 0, deviation 1 (Box and Muller 1958)
  index_t below(index_t bound);             ///< in 0..bound-1 without bias; throws ValueError for bound < 1

  RandomPosition position() const;
  /// The next numbers are those that followed a position of the same stream. Throws ValueError for one that no reader
  /// can have.
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
