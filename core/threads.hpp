// The pool of threads that kernels share their work among, and how many threads it has.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape {

/// How many threads kernels may use. At first OMP_NUM_THREADS if it is 1 to 1024, else the number of
/// processors.
int threads();

/// Results do not depend on the count, bit for bit. Throws ValueError unless 1 <= count <= 1024.
void set_threads(int count);

using TaskFunction = void (*)(const void* context, index_t task) noexcept;

/// Runs every task of 0..tasks-1 once, in any order and on any thread, and returns when all are done. Inside a task, or
/// while another thread uses the pool, the tasks run on the calling thread.
void run_tasks(index_t tasks, TaskFunction function, const void* context) noexcept;

}  // namespace xtape
