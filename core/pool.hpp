// A caching allocator with size classes, for all arrays, tensors and tape nodes.
//
// A fresh page costs tens of microseconds on many machines, a reused block nanoseconds. So freed blocks go to a list of
// their size class: first in a cache of the freeing thread, above a limit in a list that all threads share. Memory
// returns to the system only at exit. Under AddressSanitizer every block is an allocation of its own, so that the tool
// sees its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace xtape::pool {

/// Bytes are counted after rounding up to the size class.
struct Stats {
  std::int64_t system_calls = 0;  ///< requests for memory to the operating system
  std::int64_t system_bytes = 0;  ///< bytes obtained by them; never decreases
  std::int64_t live_bytes = 0;    ///< bytes allocated and not freed, over all threads
  std::int64_t live_blocks = 0;   ///< blocks allocated and not freed, over all threads
};

/// A block of at least `bytes` bytes, aligned to 64. Throws std::bad_alloc.
void* allocate(std::size_t bytes);

/// Frees a block of `allocate(bytes)`, on any thread.
void deallocate(void* block, std::size_t bytes) noexcept;

Stats stats();

/// False under AddressSanitizer, where blocks are not cached.
bool caching();

}  // namespace xtape::pool

namespace xtape {

/// A standard allocator that uses the pool. xtensor's containers leave its elements uninitialized.
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
