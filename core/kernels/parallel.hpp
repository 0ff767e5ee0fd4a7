// Loops shared among the threads of the pool.
#pragma once

#include <xtape/core/threads.hpp>

namespace xtape {

/// body(task) for every task of 0..tasks-1, in any order; body must not throw.
template <class Body>
void parallel_for(index_t tasks, const Body& body) noexcept {
  run_tasks(
      tasks, [](const void* context, index_t task) noexcept { (*static_cast<const Body*>(context))(task); }, &body);
}

/// body(begin, end) over ranges of 0..count-1, each `grain` long except the last: they depend on the arguments only.
template <class Body>
void parallel_ranges(index_t count, index_t grain, const Body& body) noexcept {
  if (count <= grain) {
    if (count > 0) body(index_t{0}, count);
    return;
  }
  parallel_for((count + grain - 1) / grain, [&](index_t task) {
    const index_t begin = task * grain;
    body(begin, begin + grain < count ? begin + grain : count);
  });
}

/// How many rows of `width` elements make a task of about `elements`.
constexpr index_t rows_per_task(index_t width, index_t elements = index_t{1} << 14) {
  return width < elements ? elements / (width > 0 ? width : 1) : 1;
}

/// body(row, offset of its first element) for every row of a [rows, width] matrix. Threads take about 8192 elements at
/// a time. `body` must not throw.
template <class Body>
void for_each_row(index_t rows, index_t width, const Body& body) noexcept {
  parallel_ranges(rows, rows_per_task(width, 1 << 13), [&](index_t begin, index_t end) {
    for (index_t r = begin; r < end; ++r) body(r, r * width);
  });
}

}  // namespace xtape
