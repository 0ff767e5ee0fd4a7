#include <xtape/core/error.hpp>
#include <xtape/core/kernels/mask.hpp>
#include <xtape/core/ops/dropout.hpp>
#include <xtape/core/ops/internal/broadcast.hpp>

namespace xtape::inline XTAPE_DTYPE {

void check_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1)) throw ValueError(op, "a dropout probability from 0 to 1", p);
}

namespace {

using Kept = std::vector<std::uint8_t, PoolAllocator<std::uint8_t>>;

/// Element i is kept if word i of the key's stream is at least p 2^32.
Kept draw(index_t count, double p, const RandomKey& key) {
  constexpr index_t block = 1024;
  const auto threshold = static_cast<std::uint64_t>(p * 0x1p32);
  const std::uint64_t stream = substream(key.stream, key.call);
  Kept kept(count);
  std::uint32_t words[block];
  for (index_t begin = 0; begin < count; begin += block) {
    const index_t n = std::min(block, count - begin);
    random_bits(key.seed, stream, static_cast<std::uint64_t>(begin / 4), {words, static_cast<std::size_t>(n)});
    for (index_t i = 0; i < n; ++i) kept[begin + i] = words[i] >= threshold;
  }
  return kept;
}

}  // namespace

Tensor dropout(const Tensor& x, double p, const RandomKey& key) {
  check_probability("dropout", p);
  if (p == 0) return x;
  if (Probe* probe = Probe::active()) probe->dropout(p);
  const real scale = p == 1 ? 0 : static_cast<real>(1 / (1 - p));
  Kept kept = draw(x.numel(), p, key);
  Array y = empty_array(x.shape());
  kernels::select_scaled(x.data(), kept.data(), scale, {y.data()}, numel(y));
  return Tape::record("dropout", {x}, Tensor(std::move(y)), [kept = std::move(kept), scale](const Array& dy, Grads& g) {
    kernels::select_scaled(dy.data(), kept.data(), scale, g.buffer(0), numel(dy));
  });
}

}  // namespace xtape::inline XTAPE_DTYPE
