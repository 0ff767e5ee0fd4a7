// Size-class caching allocator for every array, tensor and tape record.
//
// A fresh page costs tens of microseconds on many machines, a reused block nanoseconds. Freed blocks therefore stay in
// a list of their size class: first in the freeing thread's own cache, then, past a limit, in a list shared by all
// threads. Memory goes back to the system only at exit. Under AddressSanitizer and ThreadSanitizer every block comes
// straight from the system allocator instead, so that these tools see each one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace xtape::pool {

/// Bytes are the sizes of the classes that blocks were rounded up to.
struct Stats {
  std::int64_t system_calls = 0;  ///< how often memory was requested from the operating system
  std::int64_t system_bytes = 0;  ///< bytes obtained from it so far; never falls
  std::int64_t live_bytes = 0;    ///< bytes handed out and not yet freed, over all threads
  std::int64_t live_blocks = 0;   ///< blocks handed out and not yet freed, over all threads
};

/// A block of at least `bytes` bytes, aligned to 64. Throws std::bad_alloc.
void* allocate(std::size_t bytes);

/// Gives back a block from `allocate(bytes)`; any thread may do it.
void deallocate(void* block, std::size_t bytes) noexcept;

Stats stats();

/// False under AddressSanitizer or ThreadSanitizer, where blocks are not cached.
bool caching();

}  // namespace xtape::pool

namespace xtape {

/// Standard allocator over the pool; elements are left uninitialised by xtensor's containers.
template <class T>
struct PoolAllocator {
  using value_type = T;

  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(pool::allocate(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { pool::deallocate(block, count * sizeof(T)); }

  template <class U>
  bool operator==(const PoolAllocator<U>&) const noexcept {
    return true;
  }
};

}  // namespace xtape
