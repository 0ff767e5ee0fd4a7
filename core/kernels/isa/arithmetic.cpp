#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/math.hpp>
#include <xtape/core/kernels/isa/store.hpp>

template <class F>
void map_binary(const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n, F f) {
  map_pairs(a, step_a, b, step_b, y, n, [f](index_t, real p, real q) { return f(p, q); });
}

void binary(Binary f, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n) {
  switch (f) {
    case Binary::add:
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return p + q; });
    case Binary::sub:
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return p - q; });
    case Binary::mul:
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return p * q; });
    case Binary::div:
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return p / q; });
    case Binary::pow:
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return power(p, q); });
    case Binary::max:
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return ((p > q) | (p != p)) ? p : q; });
    case Binary::min:
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return ((p < q) | (p != p)) ? p : q; });
    case Binary::max_share:
      return map_binary(a, step_a, b, step_b, y, n,
                        [](real p, real q) { return p < q ? 0 : (p == q ? real(0.5) : real(1)); });
    case Binary::mul_no_nan:
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return (p == 0) | (q == 0) ? 0 : p * q; });
    case Binary::pow_base:  // d(p^q)/dp
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return q == 0 ? 0 : q * power(p, q - 1); });
    case Binary::pow_exponent:  // d(p^q)/dq
      return map_binary(a, step_a, b, step_b, y, n,
                        [](real p, real q) { return p == 0 && q >= 0 ? 0 : power(p, q) * logarithm(p); });
  }
}

void affine(const real* x, real scale, real shift, real* y, index_t n) {
#pragma GCC ivdep
  for (index_t i = 0; i < n; ++i) y[i] = scale * x[i] + shift;
}

void scaled(const real* x, real scale, Output y, index_t n) {
  store_each(y, n, [=](index_t i) { return scale * x[i]; });
}

void product(const real* a, const real* b, real scale, Output y, index_t n) {
  store_each(y, n, [=](index_t i) { return scale * a[i] * b[i]; });
}

}  // namespace

const ArithmeticTable arithmetic_table = {binary, affine, scaled, product};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
