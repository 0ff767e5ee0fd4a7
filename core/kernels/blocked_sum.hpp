// Sums over fixed blocks, added in a fixed order: the same bits for any number of threads.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/scratch.hpp>

#include <algorithm>

namespace xtape {

constexpr index_t kBlockSize = 1 << 13;  ///< elements of one partial sum

/// The sum of block(begin, end) over the blocks of 0..n-1. `block` must not throw.
template <class Sum>
double blocked_sum(index_t n, const Sum& block) {
  if (n <= kBlockSize) return block(index_t{0}, n);
  const index_t blocks = (n + kBlockSize - 1) / kBlockSize;
  const Scratch<double> partial(blocks);
  parallel_for(blocks, [&](index_t b) { partial[b] = block(b * kBlockSize, std::min(n, (b + 1) * kBlockSize)); });
  double total = 0;
  for (index_t b = 0; b < blocks; ++b) total += partial[b];
  return total;
}

}  // namespace xtape

namespace xtape::inline XTAPE_DTYPE::kernels {

/// Rows of one block: few enough that sums in `real` stay accurate to a few units in the last place.
constexpr index_t kBlockRows = 64;

inline index_t row_blocks(index_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

/// body(block, first row, rows) for every block. `work` is the number of elements read in all blocks together: little
/// work stays on one thread.
template <class Body>
void for_row_blocks(index_t rows, index_t work, const Body& body) {
  const auto task = [&](index_t b) { body(b, b * kBlockRows, std::min(kBlockRows, rows - b * kBlockRows)); };
  const index_t blocks = row_blocks(rows);
  if (work > index_t{1} << 15) return parallel_for(blocks, task);
  for (index_t b = 0; b < blocks; ++b) task(b);
}

/// Sums over the rows of a matrix: finish(totals [columns]). block(first, count, out) writes the sums of rows
/// first..first+count-1 to out [columns], in `real`; the sums of the blocks are added in double. A total that is not
/// finite may have overflowed in a block.
template <class Block, class Finish>
void blocked_column_sums(index_t rows, index_t columns, index_t work, const Block& block, const Finish& finish) {
  const Scratch<real> partial(row_blocks(rows) * columns);
  for_row_blocks(rows, work,
                 [&](index_t b, index_t first, index_t count) { block(first, count, partial.data() + b * columns); });
  const Scratch<double> totals(columns);
  std::fill_n(totals.data(), columns, 0.0);
  for (index_t b = 0; b < row_blocks(rows); ++b)  // in the order of memory
    for (index_t c = 0; c < columns; ++c) totals[c] += static_cast<double>(partial[b * columns + c]);
  finish(totals.data());
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
