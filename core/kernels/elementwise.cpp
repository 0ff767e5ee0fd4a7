#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/isa/tables.hpp>
#include <xtape/core/kernels/parallel.hpp>

#include <algorithm>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {
constexpr index_t kGrainSize = 1 << 14;  // elements a thread takes at a time; shorter arrays stay on one thread

const ElementwiseTable& table() { return isa().elementwise; }

template <class Pointer>
Pointer at(Pointer p, index_t i) {
  return p ? p + i : p;
}
}  // namespace

void unary(Unary f, const real* x, real* y, index_t n, Constants constants) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) { isa().unary.value(f, constants, x + b, y + b, e - b); });
}

void unary_and_derivative(Unary f, const real* x, real* y, real* derivative, index_t n, Constants constants) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) {
    isa().unary.value_and_derivative(f, constants, x + b, y + b, derivative + b, e - b);
  });
}

void unary_backward(Unary f, const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t n,
                    Constants constants) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) {
    isa().unary.backward(f, constants, at(x, b), at(y, b), dy + b, dx + b, accumulate, e - b);
  });
}

void binary(Binary f, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().binary(f, a + begin * step_a, step_a, b + begin * step_b, step_b, y + begin, end - begin);
  });
}

void affine(const real* x, real scale, real shift, real* y, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) { table().affine(x + b, scale, shift, y + b, e - b); });
}

void scaled(const real* x, real scale, real* y, bool accumulate, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) { table().scaled(x + b, scale, y + b, accumulate, e - b); });
}

void product(const real* a, const real* b, real scale, real* y, bool accumulate, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t begin, index_t end) {
    table().product(a + begin, b + begin, scale, y + begin, accumulate, end - begin);
  });
}

void select_scaled(const real* x, const std::uint8_t* keep, real scale, real* y, bool accumulate, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) {
    table().select_scaled(x + b, keep + b, scale, y + b, accumulate, e - b);
  });
}

void fill(real* y, real value, index_t n) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) { std::fill(y + b, y + e, value); });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
