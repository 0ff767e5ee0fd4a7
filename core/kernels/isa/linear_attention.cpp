#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>

inline Lanes all(real x) { return x - Lanes{}; }

/// m[r] += a[r] x for rows of `columns`, a multiple of kLanes.
void ger(real* m, index_t rows, index_t columns, const real* a, const real* x) {
  index_t c = 0;
  for (; c + 2 * kLanes <= columns; c += 2 * kLanes) {
    const Lanes x0 = load(x + c), x1 = load(x + c + kLanes);
    for (index_t r = 0; r < rows; ++r) {
      real* to = m + r * columns + c;
      const Lanes w = all(a[r]);
      store(to, load(to) + w * x0);
      store(to + kLanes, load(to + kLanes) + w * x1);
    }
  }
  for (; c < columns; c += kLanes) {
    const Lanes x0 = load(x + c);
    for (index_t r = 0; r < rows; ++r) {
      real* to = m + r * columns + c;
      store(to, load(to) + all(a[r]) * x0);
    }
  }
}

/// out = sum over r of a[r] m[r], in the order of the rows.
void gemv_transposed(const real* m, index_t rows, index_t columns, const real* a, real* out) {
  index_t c = 0;
  for (; c + 2 * kLanes <= columns; c += 2 * kLanes) {
    Lanes s0 = {}, s1 = {}, s2 = {}, s3 = {};
    index_t r = 0;
    for (; r + 2 <= rows; r += 2) {
      const real* from = m + r * columns + c;
      s0 += all(a[r]) * load(from);
      s1 += all(a[r]) * load(from + kLanes);
      s2 += all(a[r + 1]) * load(from + columns);
      s3 += all(a[r + 1]) * load(from + columns + kLanes);
    }
    if (r < rows) {
      s0 += all(a[r]) * load(m + r * columns + c);
      s1 += all(a[r]) * load(m + r * columns + c + kLanes);
    }
    store(out + c, s0 + s2);
    store(out + c + kLanes, s1 + s3);
  }
  for (; c < columns; c += kLanes) {
    Lanes sum = {};
    for (index_t r = 0; r < rows; ++r) sum += all(a[r]) * load(m + r * columns + c);
    store(out + c, sum);
  }
}

/// The sum of the lanes, in a tree.
inline real tree_sum(Lanes v) {
  real x[kLanes];
  store(x, v);
  for (index_t half = kLanes / 2; half > 0; half /= 2)
    for (index_t i = 0; i < half; ++i) x[i] += x[i + half];
  return x[0];
}

/// out[r] = m[r].x
void gemv(const real* m, index_t rows, index_t columns, const real* x, real* out) {
  for (index_t r = 0; r < rows; ++r) {
    Lanes sum = {};
    for (index_t c = 0; c < columns; c += kLanes) sum += load(m + r * columns + c) * load(x + c);
    out[r] = tree_sum(sum);
  }
}

}  // namespace

const LinearAttentionTable linear_attention_table = {kLanes, ger, gemv_transposed, gemv};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
