#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/store.hpp>

/// y[i] = element(i, a[i * step_a], b[i * step_b]) with steps 0 or 1, a loop for each combination.
template <class T, class Element>
void map(const real* a, index_t step_a, const real* b, index_t step_b, T* y, index_t n, Element element) {
  if (n == 0) return;
  const real first_a = *a, first_b = *b;
  if (step_a && step_b) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = element(i, a[i], b[i]);
  } else if (step_a) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = element(i, a[i], first_b);
  } else if (step_b) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = element(i, first_a, b[i]);
  } else {
    for (index_t i = 0; i < n; ++i) y[i] = element(i, first_a, first_b);
  }
}

void compare(Compare f, const real* a, index_t step_a, const real* b, index_t step_b, bool* mask, index_t n) {
  switch (f) {
    case Compare::equal:
      return map(a, step_a, b, step_b, mask, n, [](index_t, real p, real q) { return p == q; });
    case Compare::not_equal:
      return map(a, step_a, b, step_b, mask, n, [](index_t, real p, real q) { return p != q; });
    case Compare::less:
      return map(a, step_a, b, step_b, mask, n, [](index_t, real p, real q) { return p < q; });
    case Compare::less_equal:
      return map(a, step_a, b, step_b, mask, n, [](index_t, real p, real q) { return p <= q; });
  }
}

void select(const bool* mask, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(mask);  // compares of bytes become vector code
  map(a, step_a, b, step_b, y, n, [bytes](index_t i, real p, real q) { return bytes[i] == 1 ? p : q; });
}

void select_or_zero(const bool* mask, bool when, const real* x, real* y, bool accumulate, index_t n) {
  if (accumulate) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] += mask[i] == when ? x[i] : 0;
  } else {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = mask[i] == when ? x[i] : 0;
  }
}

void select_scaled(const real* x, const std::uint8_t* keep, real scale, real* y, bool accumulate, index_t n) {
  store_each(y, accumulate, n, [=](index_t i) { return keep[i] ? scale * x[i] : 0; });
}

}  // namespace

extern const MaskTable mask_table;
const MaskTable mask_table = {compare, select, select_or_zero, select_scaled};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
