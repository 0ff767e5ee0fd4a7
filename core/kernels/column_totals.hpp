// Sums over the rows of a matrix, in a fixed order: the same bits for any number of threads.
#pragma once

#include <xtape/core/config.hpp>
#include <xtape/core/kernels/scratch.hpp>
#include <xtape/core/kernels/threads.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_FLAVOUR::kernels {

/// `put(c, total)` for the sum of every column. `block(first, count, out)` sums rows first..first+count-1 into out
/// [columns], in `real`; it gets at most 64 rows, and the blocks are added up in double. `work` is the number of
/// elements it reads in all: little work stays on one thread.
template <class Block, class Put>
void column_totals(index_t rows, index_t columns, index_t work, const Block& block, const Put& put) {
  constexpr index_t kRows = 64;
  const index_t blocks = (rows + kRows - 1) / kRows;
  const Scratch<real> partial(blocks * columns);
  const auto task = [&](index_t b) {
    block(b * kRows, std::min(kRows, rows - b * kRows), partial.data() + b * columns);
  };
  if (work > index_t{1} << 15) {
    parallel_for(blocks, task);
  } else {
    for (index_t b = 0; b < blocks; ++b) task(b);
  }
  for (index_t c = 0; c < columns; ++c) {
    double total = 0;
    for (index_t b = 0; b < blocks; ++b) total += static_cast<double>(partial[b * columns + c]);
    put(c, total);
  }
}

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels
