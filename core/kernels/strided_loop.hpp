// Loops over strided arrays, for permuting, broadcasting and indexing.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/kernels/parallel.hpp>

#include <initializer_list>

namespace xtape::inline XTAPE_DTYPE::kernels {

constexpr int kMaxRank = 12;

/// A loop over `rank` axes, the outermost first.
struct StridedLoop {
  int rank = 0;
  index_t size[kMaxRank] = {};
  index_t stride[kMaxRank] = {};    ///< of the first operand, in elements; 0 where it is broadcast
  index_t stride_b[kMaxRank] = {};  ///< of the second operand, if there is one
};

/// A loop over axes of these sizes, by the strides of one operand.
StridedLoop strided_loop(std::initializer_list<index_t> sizes, std::initializer_list<index_t> strides);

/// An equivalent loop in which adjacent axes are merged where possible, so that the last axis is long.
StridedLoop coalesced(const StridedLoop& loop);

/// Number of rows; a row is one pass along the last axis.
index_t row_count(const StridedLoop& loop);

/// body(row, offset, offset_b) for the rows first..last-1, in order.
template <class Body>
void for_rows(const StridedLoop& loop, index_t first, index_t last, const Body& body) {
  if (first >= last) return;  // an axis may have size 0, by which nothing can be divided
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

/// body(row, offset, offset_b) for every row, shared among threads.
template <class Body>
void parallel_rows(const StridedLoop& loop, const Body& body) {
  const index_t inner_size = loop.size[loop.rank - 1];
  if (inner_size == 0) return;
  const index_t grain = inner_size < (index_t{1} << 15) ? (index_t{1} << 15) / inner_size : 1;
  parallel_ranges(row_count(loop), grain, [&](index_t first, index_t last) { for_rows(loop, first, last, body); });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
