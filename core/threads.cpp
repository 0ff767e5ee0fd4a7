#include <xtape/core/error.hpp>
#include <xtape/core/threads.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace xtape {

namespace {

constexpr int kMaxThreads = 1024;
constexpr int kClosed = 1 << 20;
constexpr int kSpins = 4000;  // 40 to 200 us: longer than the time between two kernels, shorter than a time slice

int default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const long wanted = std::strtol(text, nullptr, 10);  // the first of a list; a value beyond long is the largest one
    if (wanted >= 1 && wanted <= kMaxThreads) return static_cast<int>(wanted);
  }
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, static_cast<unsigned>(kMaxThreads)));
}

std::atomic<int>& wanted_threads() {
  static std::atomic<int> count{default_threads()};
  return count;
}

thread_local bool inside_task = false;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Workers wait on `epoch`, which each new job increments. A worker enters a job only while it is open. A job is done
/// when all tasks are taken and all workers that entered have left, so no one waits for a late worker. Each worker
/// first does its own share of consecutive tasks, so that it reads from its cache what it wrote in the previous kernel,
/// and then helps with the shares of others.
class Pool {
 public:
  /// Starts as many helpers as the system allows: no result depends on their number.
  explicit Pool(int wanted) : process_(::getpid()), wanted_(wanted), shares_(static_cast<std::size_t>(wanted) + 1) {
    helpers_.reserve(static_cast<std::size_t>(wanted));
    try {
      for (int i = 0; i < wanted; ++i) helpers_.emplace_back([this, i] { work(static_cast<std::size_t>(i) + 1); });
    } catch (const std::system_error&) {
    }
  }

  ~Pool() {
    stop_ = true;
    epoch_.fetch_add(1);
    epoch_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  int wanted() const { return wanted_; }
  int helpers() const { return static_cast<int>(helpers_.size()); }
  bool forked() const { return process_ != ::getpid(); }

  void run(index_t tasks, TaskFunction function, const void* context) {
    function_ = function;
    context_ = context;
    const auto workers = std::ssize(shares_);
    for (index_t i = 0; i < workers; ++i) {
      Share& share = shares_[i];
      share.next.store(tasks * i / workers, std::memory_order_relaxed);
      share.end = tasks * (i + 1) / workers;
    }
    inside_.store(0, std::memory_order_release);  // opens the job
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
    drain(0);
    inside_.fetch_or(kClosed, std::memory_order_acquire);
    for (int spins = 0; inside_.load(std::memory_order_acquire) != kClosed; ++spins) {
      if (spins < kSpins) {
        relax();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  /// Registers the calling worker in the job. False if the job is closed.
  bool enter() {
    int inside = inside_.load(std::memory_order_relaxed);
    while (!(inside & kClosed))
      if (inside_.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire)) return true;
    return false;
  }

  /// Consecutive tasks of a job, on a cache line of its own.
  struct alignas(64) Share {
    std::atomic<index_t> next{0};
    index_t end = 0;

    /// The next task, or -1.
    index_t take() {
      if (next.load(std::memory_order_relaxed) >= end) return -1;
      const index_t task = next.fetch_add(1, std::memory_order_relaxed);
      return task < end ? task : -1;
    }
  };

  /// Does the tasks of the worker's share, then those left in the shares of the workers after it.
  void drain(std::size_t worker) {
    inside_task = true;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      Share& share = shares_[(worker + i) % shares_.size()];
      for (index_t task; (task = share.take()) >= 0;) function_(context_, task);
    }
    inside_task = false;
  }

  void work(std::size_t worker) {
    std::uint64_t seen = 0;
    while (true) {
      std::uint64_t now = epoch_.load(std::memory_order_acquire);
      for (int spins = 0; now == seen && spins < kSpins; ++spins) {
        relax();
        now = epoch_.load(std::memory_order_acquire);
      }
      if (now == seen) {
        epoch_.wait(seen, std::memory_order_acquire);
        continue;
      }
      seen = now;
      if (stop_) return;
      if (!enter()) continue;
      drain(worker);
      inside_.fetch_sub(1, std::memory_order_release);
    }
  }

  pid_t process_;
  int wanted_;
  std::vector<Share> shares_;
  std::vector<std::thread> helpers_;
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<int> inside_{kClosed};  // workers in the job, plus kClosed once all tasks are taken
  std::atomic<bool> stop_{false};
  TaskFunction function_ = nullptr;
  const void* context_ = nullptr;
};

struct PoolSlot {
  std::mutex mutex;
  Pool* pool = nullptr;

  /// The pool with the wanted number of helpers. A forked child does not have the parent's threads: it leaves the old
  /// pool object alone and makes a new one. The caller holds the mutex.
  Pool& get(int helpers) {
    if (pool && pool->forked()) pool = nullptr;
    if (pool && pool->wanted() != helpers) {
      delete pool;
      pool = nullptr;
    }
    if (!pool) pool = new Pool(helpers);
    return *pool;
  }

  ~PoolSlot() {
    if (pool && !pool->forked()) delete pool;
  }
};

PoolSlot& slot() {
  static PoolSlot instance;
  return instance;
}

}  // namespace

int threads() { return wanted_threads().load(std::memory_order_relaxed); }

void set_threads(int count) {
  if (count < 1 || count > kMaxThreads) throw ValueError("set_threads", "from 1 to 1024 threads", count);
  wanted_threads().store(count, std::memory_order_relaxed);
}

void run_tasks(index_t tasks, TaskFunction function, const void* context) noexcept {
  if (tasks > 1 && threads() > 1 && !inside_task) {
    const std::unique_lock lock(slot().mutex, std::try_to_lock);
    if (lock.owns_lock()) {
      slot().get(threads() - 1).run(tasks, function, context);
      return;
    }
  }
  for (index_t task = 0; task < tasks; ++task) function(context, task);
}

}  // namespace xtape
