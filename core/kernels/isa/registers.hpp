// Vectors of the size of the registers, and transpositions in registers. Only isa/*.cpp include it, inside the unnamed
// namespace of an instruction set.

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
constexpr int kWidth = kBytes / sizeof(real);

typedef real Vector __attribute__((vector_size(kBytes)));
typedef real UnalignedVector __attribute__((vector_size(kBytes), aligned(sizeof(real)), may_alias));

inline Vector load(const real* x) { return *reinterpret_cast<const UnalignedVector*>(x); }
inline void store(real* x, Vector v) { *reinterpret_cast<UnalignedVector*>(x) = v; }

/// Element e of the result is element from[e] of a and b, concatenated. In an unrolled loop it is one instruction.
template <class Places>
inline Vector shuffled(Vector a, Vector b, Places from) {
#ifdef __clang__  // it has no shuffle by a vector of indices
  Vector out;
  for (int e = 0; e < kWidth; ++e) out[e] = from[e] < kWidth ? a[from[e]] : b[from[e] - kWidth];
  return out;
#else
  return __builtin_shuffle(a, b, from);
#endif
}

/// One stage of a transposition in registers: exchanges blocks of `step` elements between rows `step` apart.
template <int step>
inline void exchange(Vector* rows) {
  typedef decltype([] {
    if constexpr (sizeof(real) == 4) return std::int32_t{};
    else return std::int64_t{};
  }()) Integer;
  typedef Integer Indices __attribute__((vector_size(kBytes)));
  Indices low, high;
#pragma GCC unroll 16
  for (int e = 0; e < kWidth; ++e) {
    low[e] = (e & step) ? kWidth + (e - step) : e;
    high[e] = (e & step) ? kWidth + e : e + step;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) {
    if (i & step) continue;
    const Vector a = rows[i], b = rows[i + step];
    rows[i] = shuffled(a, b, low);
    rows[i + step] = shuffled(a, b, high);
  }
}

/// to[e * to_stride + i] = from[i * from_stride + e] for i, e < kWidth.
inline void transpose_square(const real* from, index_t from_stride, real* to, index_t to_stride) {
  Vector rows[kWidth];
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) rows[i] = load(from + i * from_stride);
  exchange<1>(rows);
  if constexpr (kWidth > 2) exchange<2>(rows);
  if constexpr (kWidth > 4) exchange<4>(rows);
  if constexpr (kWidth > 8) exchange<8>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i) store(to + i * to_stride, rows[i]);
}
