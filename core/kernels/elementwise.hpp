// Functions of one or two numbers, over whole arrays. Raw pointers and sizes: no shapes, no tape, no exceptions.
#pragma once

#include <xtape/core/config.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels {

enum class Unary {
  exp,
  expm1,
  log,
  log1p,
  sqrt,
  sin,
  cos,
  abs,
  clamp,  ///< to a..b
  tanh,
  sigmoid,
  relu,
  leaky_relu,  ///< slope a below 0
  elu,         ///< a (exp(x) - 1) below 0
  silu,
  softplus,  ///< log(1 + exp(a x)) / a; x where a x > b
  softsign,
  gelu,
  gelu_tanh,
};

/// The numbers that some functions have.
struct Constants {
  real a = 0;
  real b = 0;
};

/// chain: a * b, but 0 where a is 0 even if b is infinite (an upstream gradient times a slope).
/// pow_base, pow_exponent: the partial derivatives of a^b, finite at a = 0 where their limits are.
/// max, min: NaN if one is NaN. max_share: the part of the gradient of max(a, b) that a gets, half at ties.
enum class Binary { add, sub, mul, div, pow, max, min, mul_no_nan, pow_base, pow_exponent, max_share };

/// y[i] = f(x[i]); x and y may be the same array.
void unary(Unary f, const real* x, real* y, index_t n, Constants constants = {});

/// y[i] = f(x[i]) and slope[i] = f'(x[i]): for functions whose derivative is dear to compute a second time.
void unary_and_derivative(Unary f, const real* x, real* y, real* derivative, index_t n, Constants constants = {});

/// dx[i] = dy[i] * f'(x[i]), or added to dx when `accumulate`. y is f(x); a pointer that f does not read may be null.
void unary_backward(Unary f, const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t n,
                    Constants constants = {});

/// y[i] = f(a[i * step_a], b[i * step_b]) with steps 0 or 1.
void binary(Binary f, const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n);

/// y[i] = scale * x[i] + shift.
void affine(const real* x, real scale, real shift, real* y, index_t n);

/// y[i] = scale * x[i], or added to y when `accumulate`.
void scaled(const real* x, real scale, real* y, bool accumulate, index_t n);

/// y[i] = scale * a[i] * b[i], or added to y when `accumulate`.
void product(const real* a, const real* b, real scale, real* y, bool accumulate, index_t n);

/// y[i] = keep[i] ? scale * x[i] : 0, or added to y when `accumulate`.
void select_scaled(const real* x, const std::uint8_t* keep, real scale, real* y, bool accumulate, index_t n);

void fill(real* y, real value, index_t n);

}  // namespace xtape::inline XTAPE_DTYPE::kernels
