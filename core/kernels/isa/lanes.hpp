// Explicit lanes for reductions: compilers keep the order of a floating-point sum, so a plain loop stays scalar. All
// instruction sets use lanes of 64 bytes, whatever the size of their registers, and so add in the same order. Included
// only by the .cpp files here, inside the unnamed namespace of an instruction set.

typedef real Lanes __attribute__((vector_size(64)));
typedef real UnalignedLanes __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));
typedef decltype([] {
  if constexpr (sizeof(real) == 4) return std::int32_t{};
  else return std::int64_t{};
}()) LaneIndex;
typedef LaneIndex LaneIndices __attribute__((vector_size(64)));
typedef double DoubleQuad __attribute__((vector_size(32)));

constexpr index_t kLanes = 64 / sizeof(real);
constexpr index_t kBlock = 16 * kLanes;  // partial sums in `real` never run longer than this per lane group

inline Lanes load(const real* x) { return *reinterpret_cast<const UnalignedLanes*>(x); }
inline void store(real* x, Lanes v) { *reinterpret_cast<UnalignedLanes*>(x) = v; }

/// x in every lane. (Lanes - real does it too, but with half registers GCC puts them together one by one.)
inline Lanes splat(real x) {
  alignas(64) real lanes[kLanes];
  for (real& lane : lanes) lane = x;
  return load(lanes);
}

typedef real HalfLanes __attribute__((vector_size(32)));
typedef real QuarterLanes __attribute__((vector_size(16)));

#ifdef XTAPE_DOUBLE
inline HalfLanes low_half(Lanes x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3); }
inline HalfLanes high_half(Lanes x) { return __builtin_shufflevector(x, x, 4, 5, 6, 7); }
inline QuarterLanes low_half(HalfLanes x) { return __builtin_shufflevector(x, x, 0, 1); }
inline QuarterLanes high_half(HalfLanes x) { return __builtin_shufflevector(x, x, 2, 3); }
inline LaneIndices lane_numbers() { return LaneIndices{0, 1, 2, 3, 4, 5, 6, 7}; }
#else
inline HalfLanes low_half(Lanes x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7); }
inline HalfLanes high_half(Lanes x) { return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15); }
inline QuarterLanes low_half(HalfLanes x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3); }
inline QuarterLanes high_half(HalfLanes x) { return __builtin_shufflevector(x, x, 4, 5, 6, 7); }
inline LaneIndices lane_numbers() { return LaneIndices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
#endif

// Four numbers. (The vectors' own conversion takes five instructions, this loop one.)
typedef real Quad __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));
inline DoubleQuad in_double(Quad x) {
  DoubleQuad out;
  for (int i = 0; i < 4; ++i) out[i] = x[i];
  return out;
}
inline DoubleQuad load_double(const real* x) { return in_double(*reinterpret_cast<const Quad*>(x)); }

/// In double, halves added to halves: the same order for every instruction set.
inline double lane_sum(Lanes lanes) {
  const HalfLanes low = low_half(lanes), high = high_half(lanes);
#ifdef XTAPE_DOUBLE
  const DoubleQuad four = low + high;
#else
  const DoubleQuad lower = in_double(low_half(low)) + in_double(low_half(high));
  const DoubleQuad four = lower + (in_double(high_half(low)) + in_double(high_half(high)));
#endif
  typedef double DoublePair __attribute__((vector_size(16)));
  const DoublePair two = __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
  return two[0] + two[1];
}

/// The largest lane; none may be NaN.
inline real lane_max(Lanes lanes) {
  const HalfLanes low = low_half(lanes), high = high_half(lanes), half = low > high ? low : high;
  const QuarterLanes lower = low_half(half), higher = high_half(half), last = lower > higher ? lower : higher;
  real out = last[0];
  for (index_t i = 1; i < kLanes / 4; ++i) out = last[i] > out ? last[i] : out;
  return out;
}

constexpr real kMinusInfinity = -__builtin_inf();

/// Largest element; minus infinity for n = 0. Skips NaN. Four groups at a time, as each comparison waits for the one
/// before.
inline real largest(const real* x, index_t n) {
  const Lanes none = kMinusInfinity - Lanes{};
  Lanes most[4] = {none, none, none, none};
  index_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const Lanes v = load(x + i + j * kLanes);
      most[j] = v > most[j] ? v : most[j];
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
    const Lanes v = load(x + i);
    most[0] = v > most[0] ? v : most[0];
  }
  const Lanes a = most[0] > most[1] ? most[0] : most[1], b = most[2] > most[3] ? most[2] : most[3];
  real out = lane_max(a > b ? a : b);
  for (; i < n; ++i) out = x[i] > out ? x[i] : out;
  return out;
}

/// Four groups of lanes, as each addition waits for the one before.
struct FourSums {
  Lanes a = {}, b = {}, c = {}, d = {};

  template <class Term>
  void add(index_t i, Term term) {
    a += term(i);
    b += term(i + kLanes);
    c += term(i + 2 * kLanes);
    d += term(i + 3 * kLanes);
  }
  double sum() const { return lane_sum((a + b) + (c + d)); }
};

/// Sum over i of term(lanes at i), with `last(i)` for the elements past the last whole group of lanes.
template <class Term, class Last>
inline double sum_of(index_t n, Term term, Last last) {
  double total = 0;
  index_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    FourSums sums;
    for (index_t j = 0; j < kBlock; j += 4 * kLanes) sums.add(i + j, term);
    total += sums.sum();
  }
  FourSums rest;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) rest.add(i, term);
  for (; i + kLanes <= n; i += kLanes) rest.a += term(i);
  total += rest.sum();
  for (; i < n; ++i) total += static_cast<double>(last(i));
  return total;
}

inline double sum(const real* x, index_t n) {
  return sum_of(n, [x](index_t i) { return load(x + i); }, [x](index_t i) { return x[i]; });
}

/// The sum of x - origin.
inline double sum_of_differences(const real* x, real origin, index_t n) {
  const Lanes origins = splat(origin);
  return sum_of(n, [=](index_t i) { return load(x + i) - origins; }, [=](index_t i) { return x[i] - origin; });
}

/// The sum of ((x - high) - low)^2.
inline double sum_of_squared_differences(const real* x, real high, real low, index_t n) {
  const Lanes highs = splat(high), lows = splat(low);
  return sum_of(
      n,
      [=](index_t i) {
        const Lanes d = (load(x + i) - highs) - lows;
        return d * d;
      },
      [=](index_t i) {
        const real d = (x[i] - high) - low;
        return d * d;
      });
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
