// One small pool of threads, used inside kernels only.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape {

/// Threads that kernels may use. Starts as OMP_NUM_THREADS if that is set, else the number of processors.
int threads();

/// Throws ValueError unless 1 <= count <= 1024. Results do not depend on the count, bit for bit.
void set_threads(int count);

using TaskFunction = void (*)(const void* context, index_t task) noexcept;

/// Runs every task of 0..tasks-1 once, in any order and on any thread; returns when all are done. A call from inside a
/// task, or while another thread uses the pool, runs its tasks on the calling thread.
void run_tasks(index_t tasks, TaskFunction function, const void* context) noexcept;

/// `body(task)` for every task; body must not throw.
template <class Body>
void parallel_for(index_t tasks, const Body& body) noexcept {
  run_tasks(
      tasks, [](const void* context, index_t task) noexcept { (*static_cast<const Body*>(context))(task); }, &body);
}

/// `body(begin, end)` over fixed pieces of 0..count-1, each a multiple of `piece` long but the last.
template <class Body>
void parallel_ranges(index_t count, index_t piece, const Body& body) noexcept {
  if (count <= piece) {
    if (count > 0) body(index_t{0}, count);
    return;
  }
  parallel_for((count + piece - 1) / piece, [&](index_t task) {
    const index_t begin = task * piece;
    body(begin, begin + piece < count ? begin + piece : count);
  });
}

}  // namespace xtape
