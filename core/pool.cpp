#include <xtape/core/pool.hpp>

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <vector>

// Memory sanitizers see the bounds of a block only if it is an allocation of its own. ThreadSanitizer tests the pool.
#if defined(__SANITIZE_ADDRESS__)
#define XTAPE_POOL_BYPASS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define XTAPE_POOL_BYPASS 1
#endif
#endif

namespace xtape::pool {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSmallLimit = 512;  // up to this size the classes are multiples of 64 bytes
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kChunk = std::size_t{32} << 20;       // blocks are cut from chunks of this size ...
constexpr std::size_t kOwnMapping = std::size_t{16} << 20;  // ... unless they are larger than this
constexpr std::size_t kMaxBytes = std::size_t{1} << 46;
constexpr std::size_t kClasses = 8 + 8 * 40;
// Limits of a thread's list of one size class; what is above goes to the shared list.
[[maybe_unused]] constexpr std::size_t kThreadCacheBytes = std::size_t{64} << 20;
[[maybe_unused]] constexpr std::size_t kThreadCacheBlocks = 1 << 16;

struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

/// Eight classes for each doubling, so at most an eighth of a block is wasted.
SizeClass size_class(std::size_t bytes) {
  if (bytes <= kSmallLimit) {
    const std::size_t units = bytes == 0 ? 1 : (bytes + 63) / 64;
    return {units - 1, units * 64};
  }
  if (bytes > kMaxBytes) throw std::bad_alloc();
  const unsigned log2 = static_cast<unsigned>(std::bit_width(bytes - 1)) - 1;  // 2^log2 <= bytes-1 < 2^(log2+1)
  const unsigned shift = log2 - 3;
  const std::size_t steps = (bytes + (std::size_t{1} << shift) - 1) >> shift;  // 9..16 eighths
  return {8 + (log2 - 9) * 8 + (steps - 9), steps << shift};
}

struct Block {
  Block* next;
};

struct FreeList {
  Block* head = nullptr;
  std::size_t count = 0;

  void push(Block* block) {
    block->next = head;
    head = block;
    ++count;
  }
  Block* pop() {
    Block* block = head;
    head = block->next;
    --count;
    return block;
  }
};

/// Counters of one thread, which only that thread writes and any thread may read.
struct Counters {
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::int64_t> blocks{0};

  void add(std::int64_t b, std::int64_t n) {
    bytes.store(bytes.load(std::memory_order_relaxed) + b, std::memory_order_relaxed);
    blocks.store(blocks.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
};

struct Shared {
  std::mutex mutex;
  std::array<FreeList, kClasses> lists;
  char* chunk = nullptr;
  std::size_t chunk_left = 0;
  std::int64_t system_calls = 0;
  std::int64_t system_bytes = 0;
  std::vector<Counters*> threads;
  Counters retired;  // of threads that have ended; written under the mutex

  /// Gets pages from the system, huge ones if it grants them. The caller holds the mutex.
  char* map(std::size_t bytes) {
    const std::size_t padded = bytes + kHugePage;
    void* raw = ::mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(raw);
    const std::uintptr_t aligned = (address + kHugePage - 1) & ~(kHugePage - 1);
    char* begin = static_cast<char*>(raw) + (aligned - address);
    if (aligned > address) ::munmap(raw, aligned - address);
    ::munmap(begin + bytes, padded - bytes - (aligned - address));
    ::madvise(begin, bytes, MADV_HUGEPAGE);  // only advice: refusal costs speed, nothing else
    ++system_calls;
    system_bytes += static_cast<std::int64_t>(bytes);
    return begin;
  }

  void* carve(std::size_t bytes) {
    if (bytes > kOwnMapping) return map((bytes + kHugePage - 1) & ~(kHugePage - 1));
    if (chunk_left < bytes) {
      chunk = map(kChunk);
      chunk_left = kChunk;
    }
    void* block = chunk;
    chunk += bytes;
    chunk_left -= bytes;
    return block;
  }
};

void lock_before_fork();
void unlock_in_parent();
void start_in_child();

Shared& shared() {
  // Never destroyed, as arrays with static lifetime may be freed after its destructor would have run.
  static Shared* instance = [] {
    ::pthread_atfork(lock_before_fork, unlock_in_parent, start_in_child);
    return new Shared;
  }();
  return *instance;
}

thread_local Counters* own_counters = nullptr;

void lock_before_fork() { shared().mutex.lock(); }
void unlock_in_parent() { shared().mutex.unlock(); }

/// The child has only the thread that forked: keeps what the other threads counted, drops their counters.
void start_in_child() {
  Shared& s = shared();
  for (const Counters* thread : s.threads)
    if (thread != own_counters) s.retired.add(thread->bytes.load(), thread->blocks.load());
  std::erase_if(s.threads, [](const Counters* thread) { return thread != own_counters; });
  s.mutex.unlock();
}

struct ThreadCache {
  std::array<FreeList, kClasses> lists;
  Counters counters;

  ThreadCache() {
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    s.threads.push_back(&counters);
    own_counters = &counters;
  }
  ~ThreadCache();
};

thread_local bool cache_ended = false;  // this thread's cache is destroyed, though blocks may still be freed

ThreadCache& cache() {
  static thread_local ThreadCache instance;
  return instance;
}

ThreadCache::~ThreadCache() {
  cache_ended = true;
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  for (std::size_t i = 0; i < kClasses; ++i)
    while (lists[i].head) s.lists[i].push(lists[i].pop());
  s.retired.add(counters.bytes.load(), counters.blocks.load());
  std::erase(s.threads, &counters);
}

void count(std::int64_t bytes, std::int64_t blocks) {
  if (!cache_ended) return cache().counters.add(bytes, blocks);
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  s.retired.add(bytes, blocks);
}

#ifndef XTAPE_POOL_BYPASS
void* take_shared(const SizeClass& size) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  FreeList& list = s.lists[size.index];
  return list.head ? list.pop() : s.carve(size.bytes);
}

void spill(FreeList& list, std::size_t index) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  for (std::size_t keep = list.count / 2; list.count > keep;) s.lists[index].push(list.pop());
}
#endif

}  // namespace

#ifdef XTAPE_POOL_BYPASS

void* allocate(std::size_t bytes) {
  const SizeClass size = size_class(bytes);  // throws for sizes above the limit
  void* block = ::operator new(bytes, std::align_val_t{kAlignment});
  count(static_cast<std::int64_t>(size.bytes), 1);
  return block;
}

void deallocate(void* block, std::size_t bytes) noexcept {
  if (!block) return;
  count(-static_cast<std::int64_t>(size_class(bytes).bytes), -1);
  ::operator delete(block, std::align_val_t{kAlignment});
}

bool caching() { return false; }

#else

void* allocate(std::size_t bytes) {
  const SizeClass size = size_class(bytes);
  void* block = nullptr;
  if (!cache_ended) {
    FreeList& list = cache().lists[size.index];
    if (list.head) block = list.pop();
  }
  if (!block) block = take_shared(size);
  count(static_cast<std::int64_t>(size.bytes), 1);
  return block;
}

void deallocate(void* block, std::size_t bytes) noexcept {
  if (!block) return;
  const SizeClass size = size_class(bytes);
  count(-static_cast<std::int64_t>(size.bytes), -1);
  if (cache_ended) {
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    s.lists[size.index].push(static_cast<Block*>(block));
    return;
  }
  FreeList& list = cache().lists[size.index];
  list.push(static_cast<Block*>(block));
  if (list.count > 1 && (list.count * size.bytes > kThreadCacheBytes || list.count > kThreadCacheBlocks))
    spill(list, size.index);
}

bool caching() { return true; }

#endif

Stats stats() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  Stats out;
  out.system_calls = s.system_calls;
  out.system_bytes = s.system_bytes;
  out.live_bytes = s.retired.bytes.load();
  out.live_blocks = s.retired.blocks.load();
  for (const Counters* thread : s.threads) {
    out.live_bytes += thread->bytes.load(std::memory_order_relaxed);
    out.live_blocks += thread->blocks.load(std::memory_order_relaxed);
  }
  return out;
}

}  // namespace xtape::pool
