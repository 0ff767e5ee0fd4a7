// The caching allocator: statistics, reuse, threads, alignment, impossible sizes, fork.
#include "forked.hpp"

#include <atomic>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

using namespace xtape;
using namespace xtape::test;

namespace {

/// Number of bytes that the statistics count for a block of this size.
std::int64_t counted(std::size_t bytes) {
  const std::int64_t before = pool::stats().live_bytes;
  void* block = pool::allocate(bytes);
  const std::int64_t after = pool::stats().live_bytes;
  pool::deallocate(block, bytes);
  return after - before;
}

}  // namespace

TEST_CASE("live bytes and live blocks follow every allocation") {
  const pool::Stats before = pool::stats();
  void* a = pool::allocate(100);
  void* b = pool::allocate(1 << 20);
  const pool::Stats between = pool::stats();
  CHECK(between.live_blocks == before.live_blocks + 2);
  CHECK(between.live_bytes == before.live_bytes + 128 + (1 << 20));
  pool::deallocate(a, 100);
  pool::deallocate(b, 1 << 20);
  const pool::Stats after = pool::stats();
  CHECK(after.live_blocks == before.live_blocks);
  CHECK(after.live_bytes == before.live_bytes);
  pool::deallocate(nullptr, 100);
  CHECK(pool::stats().live_blocks == before.live_blocks);
}

TEST_CASE("a block is at most an eighth larger than requested") {
  CHECK(counted(0) == 64);
  CHECK(counted(1) == 64);
  CHECK(counted(64) == 64);
  CHECK(counted(65) == 128);
  CHECK(counted(512) == 512);
  CHECK(counted(513) == 576);
  CHECK(counted(1024) == 1024);
  CHECK(counted(1025) == 1152);
  for (std::size_t bytes = 513; bytes < (std::size_t{1} << 26); bytes += bytes / 3 + 7) {
    const auto asked = static_cast<std::int64_t>(bytes), got = counted(bytes);
    CHECK(got >= asked);
    CHECK(got - asked <= asked / 8 + 64);
    CHECK(got % 64 == 0);
  }
}

TEST_CASE("blocks are aligned to 64 bytes, writable to the end, and do not overlap") {
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t bytes : {1u, 63u, 64u, 65u, 500u, 513u, 4096u, 5000u, 100000u, 3000000u, 20000000u}) {
    for (int copy = 0; copy < 3; ++copy) {
      auto* block = static_cast<unsigned char*>(pool::allocate(bytes));
      CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
      std::memset(block, static_cast<int>(blocks.size()), bytes);
      blocks.emplace_back(block, bytes);
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, bytes] = blocks[i];
    CHECK(block[0] == i);
    CHECK(block[bytes - 1] == i);
    pool::deallocate(block, bytes);
  }
}

TEST_CASE("a freed block is reused, and repeated allocations make no system calls") {
  if (!pool::caching()) return;
  void* first = pool::allocate(3000);
  pool::deallocate(first, 3000);
  void* second = pool::allocate(2950);  // same size class
  CHECK(second == first);
  pool::deallocate(second, 2950);

  Parameter w("w", Tensor::ones({200, 300}).value());
  const auto step = [&] {
    Tape tape;
    tape.backward(sum(tanh(w * w)) + mean(matmul(w, w, {.transpose_b = true})));
    w.zero_grad();
  };
  for (int i = 0; i < 3; ++i) step();
  const std::int64_t calls = pool::stats().system_calls;
  for (int i = 0; i < 200; ++i) step();
  CHECK(pool::stats().system_calls == calls);
}

TEST_CASE("impossible sizes throw bad_alloc and leave the statistics unchanged") {
  const pool::Stats before = pool::stats();
  for (const std::size_t bytes : {(std::size_t{1} << 46) + 1, std::numeric_limits<std::size_t>::max(),
                                  std::numeric_limits<std::size_t>::max() - 63})
    CHECK_THROWS_AS((void)pool::allocate(bytes), std::bad_alloc);
  PoolAllocator<double> doubles;
  CHECK_THROWS_AS((void)doubles.allocate(std::numeric_limits<std::size_t>::max() / 4), std::bad_alloc);
  CHECK(pool::stats().live_bytes == before.live_bytes);
  CHECK(pool::stats().live_blocks == before.live_blocks);
}

TEST_CASE("memory may be freed on another thread than the one that allocated it") {
  const pool::Stats before = pool::stats();
  std::vector<void*> blocks;
  std::thread([&] {
    for (int i = 0; i < 1000; ++i) blocks.push_back(pool::allocate(777));
  }).join();
  CHECK(pool::stats().live_blocks == before.live_blocks + 1000);
  for (void* block : blocks) pool::deallocate(block, 777);
  CHECK(pool::stats().live_blocks == before.live_blocks);
  CHECK(pool::stats().live_bytes == before.live_bytes);
}

TEST_CASE("a producer and a consumer on two threads do not grow the pool") {
  std::atomic<void*> slot{nullptr};
  constexpr int rounds = 20000;
  const auto pass = [&] {
    std::thread consumer([&] {
      for (int i = 0; i < rounds; ++i) {
        void* block = nullptr;
        while (!(block = slot.exchange(nullptr))) std::this_thread::yield();
        pool::deallocate(block, 100000);
      }
    });
    for (int i = 0; i < rounds; ++i) {
      void* block = pool::allocate(100000);
      void* expected = nullptr;
      while (!slot.compare_exchange_weak(expected, block)) {
        expected = nullptr;
        std::this_thread::yield();
      }
    }
    consumer.join();
  };
  const pool::Stats before = pool::stats();
  pass();
  const pool::Stats after = pool::stats();
  CHECK(after.live_blocks == before.live_blocks);
  if (pool::caching()) CHECK(after.system_bytes - before.system_bytes < 200 << 20);  // 2 GB passed through
}

TEST_CASE("blocks cached by a thread are available to others after it ends") {
  if (!pool::caching()) return;
  constexpr std::size_t bytes = 5000000;
  const auto use = [] {
    std::vector<void*> blocks;
    for (int i = 0; i < 6; ++i) blocks.push_back(pool::allocate(bytes));
    for (void* block : blocks) pool::deallocate(block, bytes);
  };
  std::thread(use).join();
  const std::int64_t calls = pool::stats().system_calls;
  for (int i = 0; i < 10; ++i) std::thread(use).join();
  CHECK(pool::stats().system_calls == calls);
}

TEST_CASE("thread_local arrays may outlive their thread's cache") {
  const pool::Stats before = pool::stats();
  std::thread([] {
    struct Holder {  // constructed before the cache, so destroyed after it
      void* block = nullptr;
      ~Holder() {
        pool::deallocate(block, 3000);
        pool::deallocate(pool::allocate(100), 100);
      }
    };
    static thread_local Holder holder;
    holder.block = pool::allocate(3000);
  }).join();
  CHECK(pool::stats().live_blocks == before.live_blocks);
  CHECK(pool::stats().live_bytes == before.live_bytes);
}

TEST_CASE("a forked child has a working pool and correct statistics") {
  std::atomic<int> stage{0};
  std::thread other([&] {  // runs in the parent only, and owns a block
    void* block = pool::allocate(640);
    stage = 1;
    while (stage != 2) std::this_thread::yield();
    pool::deallocate(block, 640);
  });
  while (stage != 1) std::this_thread::yield();
  const pool::Stats before = pool::stats();
  const int code = in_child([&] {
    if (pool::stats().live_blocks != before.live_blocks) return false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
        for (int round = 0; round < 1000; ++round) pool::deallocate(pool::allocate(5000), 5000);
      });
    for (std::thread& thread : threads) thread.join();
    void* block = pool::allocate(640);
    const bool counts = pool::stats().live_blocks == before.live_blocks + 1;
    pool::deallocate(block, 640);
    return counts && pool::stats().live_bytes == before.live_bytes;
  });
  CHECK(code == 0);
  stage = 2;
  other.join();
}
