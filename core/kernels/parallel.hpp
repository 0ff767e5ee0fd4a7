// Loops shared among the threads of the pool.
#pragma once

#include <xtape/core/threads.hpp>

namespace xtape {

/// body(row, offset of its first element) for every row of a [rows, width] matrix. Threads take about 8192 elements at
/// a time. `body` must not throw.
template <class Body>
void for_each_row(index_t rows, index_t width, const Body& body) noexcept {
  constexpr index_t kElements = 1 << 13;
  const index_t grain = width < kElements ? kElements / (width > 0 ? width : 1) : 1;
  parallel_ranges(rows, grain, [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r) body(r, r * width);
  });
}

}  // namespace xtape
