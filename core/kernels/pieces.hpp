// Sums over fixed pieces: the same bits for any number of threads.
#pragma once

#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/scratch.hpp>

#include <algorithm>

namespace xtape {

constexpr index_t kGrainSize = 1 << 13;  ///< elements of one partial sum

/// The sum of `piece(begin, end)` over pieces of 0..n-1, added in order. `piece` must not throw.
template <class Sum>
double blocked_sum(index_t n, const Sum& piece) {
  if (n <= kGrainSize) return piece(index_t{0}, n);
  const index_t pieces = (n + kGrainSize - 1) / kGrainSize;
  const Scratch<double> partial(pieces);
  parallel_for(pieces, [&](index_t p) { partial[p] = piece(p * kGrainSize, std::min(n, (p + 1) * kGrainSize)); });
  double total = 0;
  for (index_t p = 0; p < pieces; ++p) total += partial[p];
  return total;
}

}  // namespace xtape
