// Sums over fixed pieces: the same bits for any number of threads.
#pragma once

#include <xtape/core/kernels/scratch.hpp>
#include <xtape/core/threads.hpp>

#include <algorithm>

namespace xtape {

constexpr index_t kPiece = 1 << 13;  ///< elements of one partial sum

/// The sum of `piece(begin, end)` over pieces of 0..n-1, added in order. `piece` must not throw.
template <class Piece>
double sum_in_pieces(index_t n, const Piece& piece) {
  if (n <= kPiece) return piece(index_t{0}, n);
  const index_t pieces = (n + kPiece - 1) / kPiece;
  const Scratch<double> partial(pieces);
  parallel_for(pieces, [&](index_t p) { partial[p] = piece(p * kPiece, std::min(n, (p + 1) * kPiece)); });
  double total = 0;
  for (index_t p = 0; p < pieces; ++p) total += partial[p];
  return total;
}

}  // namespace xtape
