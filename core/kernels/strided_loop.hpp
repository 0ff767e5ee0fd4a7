// Walks over arrays by strides: what reordering, broadcasting and indexing have in common.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/threads.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

constexpr int kMaxRank = 12;

/// A walk over `rank` axes of extents `extent`, outermost first.
struct StridedLoop {
  int rank = 0;
  index_t size[kMaxRank] = {};
  index_t stride[kMaxRank] = {};    ///< elements between neighbours in the first operand; 0 where it is broadcast
  index_t stride_b[kMaxRank] = {};  ///< the same in the second operand, where there is one
};

/// Joins axes that can be walked as one, so that loops over the last axis get long.
StridedLoop coalesced(const StridedLoop& loop);

/// Number of rows: runs along the last axis.
index_t row_count(const StridedLoop& loop);

/// body(row, offset, offset_b) for the rows first..last-1, in order.
template <class Body>
void for_rows(const StridedLoop& loop, index_t first, index_t last, const Body& body) {
  if (first >= last) return;  // an axis may be empty, and nothing can be divided by its extent
  index_t position[kMaxRank] = {};
  index_t offset = 0, offset_b = 0;
  for (index_t i = loop.rank - 2, rest = first; i >= 0; --i) {
    position[i] = rest % loop.size[i];
    rest /= loop.size[i];
    offset += position[i] * loop.stride[i];
    offset_b += position[i] * loop.stride_b[i];
  }
  for (index_t row = first; row < last; ++row) {
    body(row, offset, offset_b);
    for (index_t i = loop.rank - 2; i >= 0; --i) {
      offset += loop.stride[i];
      offset_b += loop.stride_b[i];
      if (++position[i] < loop.size[i]) break;
      position[i] = 0;
      offset -= loop.size[i] * loop.stride[i];
      offset_b -= loop.size[i] * loop.stride_b[i];
    }
  }
}

/// The same for every row, shared among threads.
template <class Body>
void parallel_rows(const StridedLoop& loop, const Body& body) {
  const index_t run = loop.size[loop.rank - 1];
  if (run == 0) return;
  const index_t piece = run < (index_t{1} << 15) ? (index_t{1} << 15) / run : 1;
  parallel_ranges(row_count(loop), piece, [&](index_t first, index_t last) { for_rows(loop, first, last, body); });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
