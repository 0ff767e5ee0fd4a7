#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/mask.hpp>
#include <xtape/core/kernels/parallel.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr index_t kGrainSize = 1 << 15;  // elements

const MaskTable& table() { return isa().mask; }

}  // namespace

void compare_strided(Compare f, const StridedLoop& loop, const real* a, const real* b, bool* mask) {
  const StridedLoop l = coalesced(loop);
  const int last = l.rank - 1;
  parallel_rows(l, [&](index_t row, index_t at_a, index_t at_b) {
    const index_t step_a = l.stride[last], step_b = l.stride_b[last];
    parallel_ranges(l.size[last], kGrainSize, [&](index_t begin, index_t end) {
      table().compare(f, a + at_a + begin * step_a, step_a, b + at_b + begin * step_b, step_b,
                      mask + row * l.size[last] + begin, end - begin);
    });
  });
}

void select(const bool* mask, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().select(mask + begin, a + begin * step_a, step_a, b + begin * step_b, step_b, y + begin, end - begin);
  });
}

void select_strided(const bool* mask, const StridedLoop& loop, const real* a, const real* b, real* y) {
  const StridedLoop l = coalesced(loop);
  const int last = l.rank - 1;
  parallel_rows(l, [&](index_t row, index_t at_a, index_t at_b) {
    const index_t i = row * l.size[last];
    select(mask + i, a + at_a, l.stride[last], b + at_b, l.stride_b[last], y + i, l.size[last]);
  });
}

void select_or_zero(const bool* mask, bool when, const real* x, Output y, index_t n) {
  parallel_ranges(n, kGrainSize,
                  [&](index_t b, index_t e) { table().select_or_zero(mask + b, when, x + b, y.at(b), e - b); });
}

void select_scaled(const real* x, const std::uint8_t* keep, real scale, Output y, index_t n) {
  parallel_ranges(n, kGrainSize,
                  [&](index_t b, index_t e) { table().select_scaled(x + b, keep + b, scale, y.at(b), e - b); });
}

void expand_mask(const StridedLoop& loop, const bool* mask, bool* out) {
  const StridedLoop l = coalesced(loop);
  const index_t size = l.size[l.rank - 1], step = l.stride[l.rank - 1];
  parallel_rows(l, [&](index_t row, index_t at, index_t) {
    for (index_t i = 0; i < size; ++i) out[row * size + i] = mask[at + i * step];
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
