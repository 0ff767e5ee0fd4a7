#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/store.hpp>

void compare(Compare f, const real* a, index_t step_a, const real* b, index_t step_b, bool* mask, index_t n) {
  switch (f) {
    case Compare::equal:
      return map_pairs(a, step_a, b, step_b, mask, n, [](index_t, real p, real q) { return p == q; });
    case Compare::not_equal:
      return map_pairs(a, step_a, b, step_b, mask, n, [](index_t, real p, real q) { return p != q; });
    case Compare::less:
      return map_pairs(a, step_a, b, step_b, mask, n, [](index_t, real p, real q) { return p < q; });
    case Compare::less_equal:
      return map_pairs(a, step_a, b, step_b, mask, n, [](index_t, real p, real q) { return p <= q; });
  }
}

void select(const bool* mask, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(mask);  // compares of bytes become vector code
  map_pairs(a, step_a, b, step_b, y, n, [bytes](index_t i, real p, real q) { return bytes[i] == 1 ? p : q; });
}

void select_or_zero(const bool* mask, bool when, const real* x, Output y, index_t n) {
  store_each(y, n, [=](index_t i) { return mask[i] == when ? x[i] : 0; });
}

void select_scaled(const real* x, const std::uint8_t* keep, real scale, Output y, index_t n) {
  store_each(y, n, [=](index_t i) { return keep[i] ? scale * x[i] : 0; });
}

}  // namespace

const MaskTable mask_table = {compare, select, select_or_zero, select_scaled};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
