#include "limits.hpp"

#include "common/worker.hpp"

#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/threads.hpp>

#include <algorithm>
#include <vector>

namespace bench {

namespace {

constexpr int kTrials = 7;                 // the best trial counts
constexpr int kPeakTrials = 200;           // enough for each thread to get a processor of its own
constexpr std::int64_t kRounds = 1 << 20;  // multiply-adds per register

using xtape::index_t;

/// The loops for vector registers of `bytes` bytes, `count` of which hold sums.
template <int bytes, int count>
struct Loops {
  typedef float Vector __attribute__((vector_size(bytes)));
  typedef float Unaligned __attribute__((vector_size(bytes), aligned(4), may_alias));
  static constexpr index_t width = bytes / 4;
  static constexpr double flops = 2.0 * kRounds * count * width;

  [[gnu::always_inline]] static inline float multiply_add(float factor, float term) {
    Vector sums[count];
    const Vector a = factor - Vector{}, b = term - Vector{};
    // all different, so that the compiler cannot merge them
    for (int j = 0; j < count; ++j) sums[j] = term * static_cast<float>(j) - Vector{};
    for (std::int64_t i = 0; i < kRounds; ++i)
#pragma GCC unroll 32
      for (int j = 0; j < count; ++j) sums[j] = sums[j] * a + b;
    return sum(sums);
  }

  [[gnu::always_inline]] static inline void triad(const float* b, const float* c, float s, float* a, index_t n) {
    for (index_t i = 0; i < n; i += width)
      *reinterpret_cast<Unaligned*>(a + i) =
          *reinterpret_cast<const Unaligned*>(b + i) + s * *reinterpret_cast<const Unaligned*>(c + i);
  }

  [[gnu::always_inline]] static inline float read(const float* x, index_t n) {
    Vector sums[8] = {};
    for (index_t i = 0; i < n; i += 8 * width)
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) sums[j] += *reinterpret_cast<const Unaligned*>(x + i + j * width);
    return sum(sums);
  }

 private:
  template <int size>
  [[gnu::always_inline]] static inline float sum(const Vector (&sums)[size]) {
    float total = 0;
    for (int j = 0; j < size; ++j)
      for (int e = 0; e < static_cast<int>(width); ++e) total += sums[j][e];
    return total;
  }
};

struct Table {
  double flops;
  float (*multiply_add)(float factor, float term);
  void (*triad)(const float* b, const float* c, float s, float* a, index_t n);
  float (*read)(const float* x, index_t n);
};

using Plain = Loops<16, 12>;
const Table plain = {Plain::flops, Plain::multiply_add, Plain::triad, Plain::read};

#if defined(__x86_64__)
using V3 = Loops<32, 12>;
#define V3_TARGET [[gnu::target("avx2,fma")]]
V3_TARGET float multiply_add_v3(float f, float t) { return V3::multiply_add(f, t); }
V3_TARGET void triad_v3(const float* b, const float* c, float s, float* a, index_t n) { V3::triad(b, c, s, a, n); }
V3_TARGET float read_v3(const float* x, index_t n) { return V3::read(x, n); }
const Table v3 = {V3::flops, multiply_add_v3, triad_v3, read_v3};

using V4 = Loops<64, 24>;
#define V4_TARGET [[gnu::target("avx512f,fma,prefer-vector-width=512")]]
V4_TARGET float multiply_add_v4(float f, float t) { return V4::multiply_add(f, t); }
V4_TARGET void triad_v4(const float* b, const float* c, float s, float* a, index_t n) { V4::triad(b, c, s, a, n); }
V4_TARGET float read_v4(const float* x, index_t n) { return V4::read(x, n); }
const Table v4 = {V4::flops, multiply_add_v4, triad_v4, read_v4};
#endif

const Table& table() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return v4;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return v3;
#endif
  return plain;
}

volatile float factor = 0.999f, term = 1e-3f, sink;  // volatile: the compiler must not know the values

/// Milliseconds of the fastest of several trials.
template <class Body>
double best_milliseconds(std::int64_t count, const Body& body, int trials = kTrials) {
  double best = 1e300;
  for (int trial = 0; trial < trials; ++trial) best = std::min(best, milliseconds(count, body));
  return best;
}

/// Elements per thread of one of `arrays` arrays that together take `bytes`.
index_t part_of(std::int64_t bytes, int arrays) {
  return std::max<index_t>(1024, bytes / 4 / arrays / xtape::threads() / 256 * 256);
}

/// Number of passes that move about 30 MB in total, so that short arrays are timed long enough.
std::int64_t passes(std::int64_t bytes) {
  return std::max<std::int64_t>(3, 30'000'000 / std::max<std::int64_t>(1, bytes));
}

}  // namespace

double peak_gflops() {
  const int threads = xtape::threads();
  const double time = best_milliseconds(
      1, [&] { xtape::parallel_for(threads, [](index_t) { sink = table().multiply_add(factor, term); }); },
      kPeakTrials);
  return table().flops * threads / time / 1e6;
}

double triad_gbytes(std::int64_t bytes) {
  const int threads = xtape::threads();
  const index_t part = part_of(bytes, 3);
  const auto size = static_cast<std::size_t>(part * threads);
  std::vector<float> a(size), b(size, 1), c(size, 2);
  const double time = best_milliseconds(passes(bytes), [&] {
    xtape::parallel_for(threads, [&](index_t t) {
      table().triad(b.data() + t * part, c.data() + t * part, factor, a.data() + t * part, part);
    });
  });
  return 16.0 * static_cast<double>(part * threads) / time / 1e6;
}

double read_gbytes(std::int64_t bytes) {
  const int threads = xtape::threads();
  const index_t part = part_of(bytes, 1);
  std::vector<float> x(static_cast<std::size_t>(part * threads), 1);
  const double time = best_milliseconds(passes(bytes), [&] {
    xtape::parallel_for(threads, [&](index_t t) { sink = table().read(x.data() + t * part, part); });
  });
  return 4.0 * static_cast<double>(part * threads) / time / 1e6;
}

}  // namespace bench
