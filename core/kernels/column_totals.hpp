// Sums over the rows of a matrix, in a fixed order: the same bits for any number of threads.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/scratch.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Rows of one block: few enough that sums in `real` stay exact to a few units in the last place.
constexpr index_t kBlockRows = 64;

inline index_t row_blocks(index_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

/// body(block, first row, rows) for every block. `work` is the number of elements that it reads in all: little work
/// stays on one thread.
template <class Body>
void for_row_blocks(index_t rows, index_t work, const Body& body) {
  const auto task = [&](index_t b) { body(b, b * kBlockRows, std::min(kBlockRows, rows - b * kBlockRows)); };
  const index_t blocks = row_blocks(rows);
  if (work > index_t{1} << 15) return parallel_for(blocks, task);
  for (index_t b = 0; b < blocks; ++b) task(b);
}

/// `put(c, total)` for the sum of every column. `block(first, count, out)` sums rows first..first+count-1 into out
/// [columns], in `real`; the blocks are added up in double.
template <class Block, class Put>
void blocked_column_sums(index_t rows, index_t columns, index_t work, const Block& block, const Put& put) {
  const Scratch<real> partial(row_blocks(rows) * columns);
  for_row_blocks(rows, work,
                 [&](index_t b, index_t first, index_t count) { block(first, count, partial.data() + b * columns); });
  const Scratch<double> totals(columns);
  std::fill_n(totals.data(), columns, 0.0);
  for (index_t b = 0; b < row_blocks(rows); ++b)  // in the order of memory
    for (index_t c = 0; c < columns; ++c) totals[c] += static_cast<double>(partial[b * columns + c]);
  for (index_t c = 0; c < columns; ++c) put(c, totals[c]);
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
