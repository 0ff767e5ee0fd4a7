#include <xtape/core/kernels/array_statistics.hpp>
#include <xtape/core/kernels/isa.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

using Bits = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;
constexpr int kMantissa = std::numeric_limits<real>::digits - 1;
constexpr int kBias = std::numeric_limits<real>::max_exponent - 1;
constexpr std::size_t kExponents = std::size_t{2} * kBias + 2;  // 0: zero and subnormal; the last: not finite
constexpr Bits kMagnitude = ~Bits{0} >> 1;
constexpr Bits kInfinity = Bits{kExponents - 1} << kMantissa;

}  // namespace

Log2Histogram log2_histogram(const real* x, index_t n) {
  // Neighbors often have the same exponent. Counting them in turns keeps one increment from waiting for the previous
  // one.
  constexpr index_t kTurns = 4;
  std::array<std::array<std::uint32_t, kExponents>, kTurns> counts{};
  std::array<index_t, kExponents> totals{};
  Bits largest = 0;
  index_t zeros = 0;
  constexpr index_t kCountable = index_t{1} << 30;  // what 32 bits count
  for (index_t begin = 0; begin < n; begin += kCountable) {
    const index_t end = std::min(n, begin + kCountable);
    for (index_t i = begin; i < end; ++i) {
      const Bits bits = std::bit_cast<Bits>(x[i]) & kMagnitude;
      ++counts[i % kTurns][bits >> kMantissa];
      largest = bits < kInfinity && bits > largest ? bits : largest;
      zeros += bits == 0;
    }
    for (auto& turn : counts) {
      for (std::size_t e = 0; e < kExponents; ++e) totals[e] += turn[e];
      turn.fill(0);
    }
  }
  Log2Histogram out;
  out.largest = static_cast<double>(std::bit_cast<real>(largest));
  out.not_finite = totals.back();
  out.zeros = zeros;
  totals.front() -= zeros;
  totals.back() = 0;
  const auto filled = [](index_t count) { return count > 0; };
  const auto first = std::find_if(totals.begin(), totals.end(), filled);
  if (first == totals.end()) return out;
  const auto last = std::find_if(totals.rbegin(), totals.rend(), filled).base();
  out.low = static_cast<int>(first - totals.begin()) - kBias;
  out.counts.assign(first, last);
  return out;
}

ValueRange value_range(const real* x, index_t n) {
  ValueRange out;
  bool any = false;
  for (index_t i = 0; i < n; ++i) {
    const auto value = static_cast<double>(x[i]);
    if (std::isnan(value)) ++out.nan;
    else if (std::isinf(value)) ++out.infinite;
    else {
      out.smallest = any ? std::min(out.smallest, value) : value;
      out.largest = any ? std::max(out.largest, value) : value;
      any = true;
    }
  }
  return out;
}

TailCounts tail_counts(const real* x, index_t rows, index_t width, index_t stride, real low, real high) {
  TailCounts out;
  for (index_t r = 0; r < rows; ++r) isa().reduce.count_tails(x + r * stride, width, low, high, &out.below, &out.above);
  return out;
}

void mark_positive_columns(const real* x, index_t rows, index_t width, std::uint8_t* alive) {
  for (index_t r = 0; r < rows; ++r)
    for (index_t c = 0; c < width; ++c) alive[c] |= x[r * width + c] > 0;
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
