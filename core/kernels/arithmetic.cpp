#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr index_t kGrainSize = 1 << 14;  // elements

const ArithmeticTable& table() { return isa().arithmetic; }

}  // namespace

void binary(Binary f, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().binary(f, a + begin * step_a, step_a, b + begin * step_b, step_b, y + begin, end - begin);
  });
}

void binary_strided(Binary f, const StridedLoop& loop, const real* a, const real* b, real* y) {
  if (loop.rank == 1) return binary(f, a, loop.stride[0], b, loop.stride_b[0], y, loop.size[0]);
  const StridedLoop l = coalesced(loop);
  const int last = l.rank - 1;
  parallel_rows(l, [&](index_t row, index_t at_a, index_t at_b) {
    binary(f, a + at_a, l.stride[last], b + at_b, l.stride_b[last], y + row * l.size[last], l.size[last]);
  });
}

void affine(const real* x, real scale, real shift, real* y, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) { table().affine(x + b, scale, shift, y + b, e - b); });
}

void scaled(const real* x, real scale, Output y, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) { table().scaled(x + b, scale, y.at(b), e - b); });
}

void product(const real* a, const real* b, real scale, Output y, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().product(a + begin, b + begin, scale, y.at(begin), end - begin);
  });
}

void fill(real* y, real value, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) { std::fill(y + b, y + e, value); });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
