#include <xtape/core/error.hpp>
#include <xtape/core/random.hpp>

#include <Random123/philox.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace xtape {

namespace {

using Philox = r123::Philox4x32;

std::uint64_t mix(std::uint64_t x) {  // the finalizer of SplitMix64 (Steele, Lea, Flood 2014)
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

void philox_block(std::uint64_t seed, std::uint64_t stream, std::uint64_t block, std::uint32_t* out) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const Philox::ctr_type counter = {{low(block), high(block), low(stream), high(stream)}};
  const Philox::key_type key = {{low(seed), high(seed)}};
  const Philox::ctr_type words = Philox()(counter, key);
  for (int i = 0; i < 4; ++i) out[i] = words[i];
}

}  // namespace

std::uint64_t stream_id(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix(hash);
}

std::uint64_t substream(std::uint64_t stream, std::uint64_t number) {
  return mix(stream + mix(number + 0x9e3779b97f4a7c15ULL));
}

void random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_block, std::span<std::uint32_t> out) {
  std::size_t i = 0;
  for (; i + 4 <= out.size(); i += 4) philox_block(seed, stream, first_block++, out.data() + i);
  if (i == out.size()) return;
  std::uint32_t last[4];
  philox_block(seed, stream, first_block, last);
  for (std::size_t j = 0; i < out.size(); ++i, ++j) out[i] = last[j];
}

std::uint64_t Random::bits() {
  if (left_ == 0) {
    philox_block(seed_, stream_, block_++, words_);
    left_ = 4;
  }
  left_ -= 2;
  return (static_cast<std::uint64_t>(words_[left_]) << 32) | words_[left_ + 1];
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

double Random::normal() {
  if (spare_) return *std::exchange(spare_, std::nullopt);
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

index_t Random::below(index_t bound) {
  if (bound < 1) throw ValueError("random", "a bound of at least 1", bound);
  const auto range = static_cast<std::uint64_t>(bound);
  const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % range;  // a multiple of range
  std::uint64_t x = bits();
  while (x >= limit) x = bits();
  return static_cast<index_t>(x % range);
}

RandomPosition Random::position() const { return {block_, left_, spare_}; }

void Random::seek(const RandomPosition& position) {
  if (!(position.left == 0 || (position.left == 2 && position.block > 0)))
    throw ValueError("random", "there is no such position in a stream");
  block_ = position.block;
  left_ = position.left;
  spare_ = position.spare;
  if (left_ > 0) philox_block(seed_, stream_, block_ - 1, words_);
}

}  // namespace xtape
