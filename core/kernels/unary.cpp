#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/parallel.hpp>
#include <xtape/core/kernels/unary.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

namespace {

constexpr index_t kGrainSize = 1 << 14;  // elements

const UnaryTable& table() { return isa().unary; }

}  // namespace

void unary(Unary f, const real* x, real* y, index_t n, Constants constants) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) { table().value(f, constants, x + b, y + b, e - b); });
}

void unary_and_derivative(Unary f, const real* x, real* y, real* derivative, index_t n, Constants constants) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) {
    table().value_and_derivative(f, constants, x + b, y + b, derivative + b, e - b);
  });
}

void unary_backward(Unary f, const real* x, const real* y, const real* dy, Output dx, index_t n, Constants constants) {
  parallel_ranges(n, kGrainSize, [&](index_t b, index_t e) {
    table().backward(f, constants, offset_pointer(x, b), offset_pointer(y, b), dy + b, dx.at(b), e - b);
  });
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
