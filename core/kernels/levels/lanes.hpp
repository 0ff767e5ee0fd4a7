// Explicit lanes for reductions: compilers keep the order of a floating-point sum, so a plain loop stays scalar. All
// levels use lanes of 64 bytes, whatever their registers hold, and so add in the same order. Included only by
// *_level.cpp, inside the unnamed namespace of a level.

#include <xtape/core/kernels/levels/shuffle.hpp>

typedef real Lanes __attribute__((vector_size(64)));
typedef real UnalignedLanes __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));
typedef decltype([] {
  if constexpr (sizeof(real) == 4) return std::int32_t{};
  else return std::int64_t{};
}()) LaneIndex;
typedef LaneIndex LaneIndices __attribute__((vector_size(64)));
typedef double DoubleLanes __attribute__((vector_size(64)));
typedef double DoubleQuad __attribute__((vector_size(32)));

constexpr index_t kLanes = 64 / sizeof(real);
constexpr index_t kBlock = 16 * kLanes;  // partial sums in `real` never run longer than this per lane group

inline Lanes load(const real* x) { return *reinterpret_cast<const UnalignedLanes*>(x); }

/// In double, halves added to halves: the order is the same at every level.
inline double lane_sum(Lanes lanes) {
#ifdef XTAPE_DOUBLE
  const DoubleLanes eight = lanes;
#else
  typedef real HalfLanes __attribute__((vector_size(32)));
  const HalfLanes low = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7);
  const HalfLanes high = __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15);
  const DoubleLanes eight = __builtin_convertvector(low, DoubleLanes) + __builtin_convertvector(high, DoubleLanes);
#endif
  const DoubleQuad four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/// The largest lane; a NaN is skipped where the other number is none.
inline real lane_max(Lanes lanes) {
  for (LaneIndex half = kLanes / 2; half > 0; half /= 2) {
    LaneIndices other;
    for (LaneIndex i = 0; i < kLanes; ++i) other[i] = i ^ half;
    const Lanes swapped = shuffled(lanes, lanes, other);
    lanes = swapped > lanes ? swapped : lanes;
  }
  return lanes[0];
}

/// Sum over i of term(lanes at i), with `last(i)` for the elements past the last whole group of lanes.
template <class Term, class Last>
inline double sum_of(index_t n, Term term, Last last) {
  double total = 0;
  index_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    Lanes a = {}, b = {}, c = {}, d = {};
    for (index_t j = 0; j < kBlock; j += 4 * kLanes) {
      a += term(i + j);
      b += term(i + j + kLanes);
      c += term(i + j + 2 * kLanes);
      d += term(i + j + 3 * kLanes);
    }
    total += lane_sum((a + b) + (c + d));
  }
  Lanes rest = {};
  for (; i + kLanes <= n; i += kLanes) rest += term(i);
  total += lane_sum(rest);
  for (; i < n; ++i) total += static_cast<double>(last(i));
  return total;
}

// Four numbers, so that the conversion is one instruction at every level but the plain one.
typedef real Quad __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));

inline DoubleQuad load_double(const real* x) {
  return __builtin_convertvector(*reinterpret_cast<const Quad*>(x), DoubleQuad);
}

/// In double throughout: squares of floats overflow or vanish in float.
inline double sum_of_squares(const real* x, index_t n) {
  DoubleQuad a = {}, b = {}, c = {}, d = {};
  index_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const DoubleQuad p = load_double(x + i), q = load_double(x + i + 4);
    const DoubleQuad r = load_double(x + i + 8), s = load_double(x + i + 12);
    a += p * p;
    b += q * q;
    c += r * r;
    d += s * s;
  }
  a = (a + b) + (c + d);
  double total = (a[0] + a[1]) + (a[2] + a[3]);
  for (; i < n; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return total;
}
