#include <xtape/core/kernels/isa/tables.hpp>
#include <xtape/core/kernels/mask.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr index_t kGrainSize = 1 << 15;  // elements a thread takes at a time

const SelectTable& table() { return isa().select; }

/// body(first element, offset_a, step_a, offset_b, step_b, run) for each row of a walk over two operands.
template <class Body>
void for_pairs(const StridedLoop& loop, const Body& body) {
  const StridedLoop w = coalesced(loop);
  const index_t run = w.size[w.rank - 1];
  const index_t step_a = w.stride[w.rank - 1], step_b = w.stride_b[w.rank - 1];
  parallel_rows(w, [&](index_t row, index_t a, index_t b) { body(row * run, a, step_a, b, step_b, run); });
}

}  // namespace

void compare(Compare f, const real* a, index_t step_a, const real* b, index_t step_b, bool* mask, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().compare(f, a + begin * step_a, step_a, b + begin * step_b, step_b, mask + begin, end - begin);
  });
}

void compare_strided(Compare f, const StridedLoop& loop, const real* a, const real* b, bool* mask) {
  for_pairs(loop, [&](index_t i, index_t at_a, index_t step_a, index_t at_b, index_t step_b, index_t run) {
    table().compare(f, a + at_a, step_a, b + at_b, step_b, mask + i, run);
  });
}

void select(const bool* mask, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().select(mask + begin, a + begin * step_a, step_a, b + begin * step_b, step_b, y + begin, end - begin);
  });
}

void select_strided(const bool* mask, const StridedLoop& loop, const real* a, const real* b, real* y) {
  for_pairs(loop, [&](index_t i, index_t at_a, index_t step_a, index_t at_b, index_t step_b, index_t run) {
    table().select(mask + i, a + at_a, step_a, b + at_b, step_b, y + i, run);
  });
}

void select_or_zero(const bool* mask, bool when, const real* x, real* y, bool accumulate, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().select_or_zero(mask + begin, when, x + begin, y + begin, accumulate, end - begin);
  });
}

void expand_mask(const StridedLoop& loop, const bool* mask, bool* out) {
  const StridedLoop w = coalesced(loop);
  const index_t run = w.size[w.rank - 1], step = w.stride[w.rank - 1];
  parallel_rows(w, [&](index_t row, index_t at, index_t) {
    for (index_t i = 0; i < run; ++i) out[row * run + i] = mask[at + i * step];
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
