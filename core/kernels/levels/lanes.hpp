// Explicit lanes for reductions: compilers keep the order of a floating-point sum, so a plain loop stays scalar. All
// levels use lanes of 64 bytes, whatever their registers hold, and so add in the same order. Included only by
// *_level.cpp, inside the unnamed namespace of a level.

typedef real Lanes __attribute__((vector_size(64)));
typedef real UnalignedLanes __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));
typedef double DoubleLanes __attribute__((vector_size(64)));

constexpr index_t kLanes = 64 / sizeof(real);
constexpr index_t kBlock = 16 * kLanes;  // partial sums in `real` never run longer than this per lane group

inline Lanes load(const real* x) { return *reinterpret_cast<const UnalignedLanes*>(x); }

inline double lane_sum(Lanes lanes) {
  double sum = 0;
  for (index_t i = 0; i < kLanes; ++i) sum += static_cast<double>(lanes[i]);
  return sum;
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
