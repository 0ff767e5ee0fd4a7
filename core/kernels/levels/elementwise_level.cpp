#include <xtape/core/kernels/levels/levels.hpp>

namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL {
namespace {

#include <xtape/core/kernels/levels/math.hpp>

// Each function with its derivative beside it: `value(x)` and `slope(x, y)` where y = value(x).

struct Exp {
  static real value(real x) { return exponential(x); }
  static real slope(real, real y) { return y; }
};

struct Log {
  static real value(real x) { return logarithm(x); }
  static real slope(real x, real) { return 1 / x; }
};

struct Sqrt {
  static real value(real x) { return square_root(x); }
  static real slope(real, real y) { return real(0.5) / y; }
};

struct Tanh {
  static real value(real x) { return hyperbolic_tangent(x); }
  static real slope(real, real y) { return 1 - y * y; }
};

struct Sigmoid {
  static real value(real x) { return sigmoid(x); }
  static real slope(real, real y) { return y * (1 - y); }
};

struct Relu {
  static real value(real x) { return x < 0 ? 0 : x; }  // a NaN stays a NaN
  static real slope(real x, real) { return x > 0 ? real(1) : 0; }
};

/// x Phi(x) (Hendrycks and Gimpel 2016); slope Phi(x) + x phi(x).
struct Gelu {
  static real value(real x) { return x < real(-14) ? 0 : x * normal(x).cumulative; }
  static real slope(real x, real) {
    const Normal n = normal(x);
    return n.cumulative + (n.density == 0 ? 0 : x * n.density);
  }
};

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the same paper's approximation.
struct GeluTanh {
  static constexpr real c = real(0.79788456080286535588), k = real(0.044715);
  static real inner(real x) { return hyperbolic_tangent(c * (x + k * x * x * x)); }
  static real value(real x) { return real(0.5) * x * (1 + inner(x)); }
  static real slope(real x, real) {
    const real t = inner(x);
    return real(0.5) * (1 + t) + real(0.5) * x * (1 - t * t) * c * (1 + 3 * k * x * x);
  }
};

template <class F>
void map_unary(const real* x, real* y, index_t n) {
#pragma GCC ivdep
  for (index_t i = 0; i < n; ++i) y[i] = F::value(x[i]);
}

template <class F>
void map_with_slope(const real* x, real* y, real* slope, index_t n) {
#pragma GCC ivdep
  for (index_t i = 0; i < n; ++i) {
    const real value = F::value(x[i]);
    slope[i] = F::slope(x[i], value);
    y[i] = value;
  }
}

/// An upstream gradient of exactly zero gives zero even where the slope is infinite (sqrt at 0).
template <class F, bool reads_x, bool reads_y>
void map_backward(const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t n) {
  const auto term = [&](index_t i) {
    const real g = dy[i];
    return g == 0 ? 0 : g * F::slope(reads_x ? x[i] : 0, reads_y ? y[i] : 0);
  };
  if (accumulate) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) dx[i] += term(i);
  } else {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) dx[i] = term(i);
  }
}

void unary(Unary f, const real* x, real* y, index_t n) {
  switch (f) {
    case Unary::exp:
      return map_unary<Exp>(x, y, n);
    case Unary::log:
      return map_unary<Log>(x, y, n);
    case Unary::sqrt:
      return map_unary<Sqrt>(x, y, n);
    case Unary::tanh:
      return map_unary<Tanh>(x, y, n);
    case Unary::sigmoid:
      return map_unary<Sigmoid>(x, y, n);
    case Unary::relu:
      return map_unary<Relu>(x, y, n);
    case Unary::gelu:
      return map_unary<Gelu>(x, y, n);
    case Unary::gelu_tanh:
      return map_unary<GeluTanh>(x, y, n);
  }
}

void unary_with_slope(Unary f, const real* x, real* y, real* slope, index_t n) {
  switch (f) {
    case Unary::gelu:
      return map_with_slope<Gelu>(x, y, slope, n);
    case Unary::gelu_tanh:
      return map_with_slope<GeluTanh>(x, y, slope, n);
    default:
      XTAPE_LEVEL::unary(f, x, y, n);  // the others derive their slope from y
  }
}

void unary_backward(Unary f, const real* x, const real* y, const real* dy, real* dx, bool accumulate, index_t n) {
  switch (f) {
    case Unary::exp:
      return map_backward<Exp, false, true>(x, y, dy, dx, accumulate, n);
    case Unary::log:
      return map_backward<Log, true, false>(x, y, dy, dx, accumulate, n);
    case Unary::sqrt:
      return map_backward<Sqrt, false, true>(x, y, dy, dx, accumulate, n);
    case Unary::tanh:
      return map_backward<Tanh, false, true>(x, y, dy, dx, accumulate, n);
    case Unary::sigmoid:
      return map_backward<Sigmoid, false, true>(x, y, dy, dx, accumulate, n);
    case Unary::relu:
      return map_backward<Relu, true, false>(x, y, dy, dx, accumulate, n);
    case Unary::gelu:
      return map_backward<Gelu, true, false>(x, y, dy, dx, accumulate, n);
    case Unary::gelu_tanh:
      return map_backward<GeluTanh, true, false>(x, y, dy, dx, accumulate, n);
  }
}

template <class F>
void map_binary(const real* a, index_t step_a, const real* b, index_t step_b, real* y, index_t n, F f) {
  if (step_a && step_b) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
  } else if (step_a) {
    const real right = *b;
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = f(a[i], right);
  } else if (step_b) {
    const real left = *a;
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = f(left, b[i]);
  } else {
    const real value = n ? f(*a, *b) : 0;
    for (index_t i = 0; i < n; ++i) y[i] = value;
  }
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
    case Binary::chain:
      return map_binary(a, step_a, b, step_b, y, n, [](real p, real q) { return p == 0 ? 0 : p * q; });
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

/// y = term or y += term, the choice made outside the loop.
template <class Term>
void store(real* y, bool accumulate, index_t n, Term term) {
  if (accumulate) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] += term(i);
  } else {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = term(i);
  }
}

void scaled(const real* x, real scale, real* y, bool accumulate, index_t n) {
  store(y, accumulate, n, [=](index_t i) { return scale * x[i]; });
}

void product(const real* a, const real* b, real scale, real* y, bool accumulate, index_t n) {
  store(y, accumulate, n, [=](index_t i) { return scale * a[i] * b[i]; });
}

void select_scaled(const real* x, const std::uint8_t* keep, real scale, real* y, bool accumulate, index_t n) {
  store(y, accumulate, n, [=](index_t i) { return keep[i] ? scale * x[i] : 0; });
}

}  // namespace

extern const ElementwiseTable elementwise;
const ElementwiseTable elementwise = {unary,  unary_with_slope, unary_backward, binary,
                                      affine, scaled,           product,        select_scaled};

}  // namespace xtape::inline XTAPE_FLAVOUR::kernels::XTAPE_LEVEL
