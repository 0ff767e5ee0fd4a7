#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/math.hpp>
#include <xtape/core/kernels/isa/store.hpp>

// Each function with its derivative: value(x), and derivative(x, y) where y = value(x).

/// What the derivative is computed from. `selects`: gradient(x, dy) instead of a derivative, from x; it is 0 where x
/// has no influence, even if dy is infinite or NaN. Selections come last, so that the code has no branches.
enum class DerivativeReads { of_x, of_y, selects };

/// `gradient`, but the NaN of a NaN.
inline real or_nan(real gradient, real x) { return x == x ? gradient : x; }

struct Exp {
  static constexpr DerivativeReads kind = DerivativeReads::of_y;
  static real value(real x) { return exponential(x); }
  static real derivative(real, real y) { return y; }
};

struct Expm1 {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;  // y + 1 has no digits left where y is near -1
  static real value(real x) { return exponential_minus_1(x); }
  static real derivative(real x, real) { return exponential(x); }
};

struct Log {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static real value(real x) { return logarithm(x); }
  static real derivative(real x, real) { return 1 / x; }
};

struct Log1p {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static real value(real x) { return logarithm_1_plus(x); }
  static real derivative(real x, real) { return 1 / (1 + x); }
};

struct Sqrt {
  static constexpr DerivativeReads kind = DerivativeReads::of_y;
  static real value(real x) { return square_root(x); }
  static real derivative(real, real y) { return real(0.5) / y; }
};

struct Sin {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static real value(real x) { return sine(x); }
  static real derivative(real x, real) { return cosine(x); }
};

struct Cos {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static real value(real x) { return cosine(x); }
  static real derivative(real x, real) { return -sine(x); }
};

/// For angles that are too large for the vector code.
struct LibrarySin {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static real value(real x) { return static_cast<real>(__builtin_sin(static_cast<double>(x))); }
  static real derivative(real x, real) { return static_cast<real>(__builtin_cos(static_cast<double>(x))); }
};

struct LibraryCos {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static real value(real x) { return static_cast<real>(__builtin_cos(static_cast<double>(x))); }
  static real derivative(real x, real) { return -static_cast<real>(__builtin_sin(static_cast<double>(x))); }
};

struct Abs {
  static constexpr DerivativeReads kind = DerivativeReads::selects;
  static real value(real x) { return absolute(x); }
  static real gradient(real x, real dy) {
    const real turned = or_nan(x < 0 ? -dy : dy, x);
    return (x == 0) | (dy == 0) ? 0 : turned;
  }
};

/// min(max(x, low), high); the derivative at the bounds is 1.
struct Clamp {
  static constexpr DerivativeReads kind = DerivativeReads::selects;
  real low, high;
  real value(real x) const { return x < low ? low : (x > high ? high : x); }
  real gradient(real x, real dy) const {
    const real passed = or_nan(dy, x);
    return (x < low) | (x > high) | (dy == 0) ? 0 : passed;
  }
};

struct Tanh {
  static constexpr DerivativeReads kind = DerivativeReads::of_y;
  static real value(real x) { return hyperbolic_tangent(x); }
  static real derivative(real, real y) { return 1 - y * y; }
};

struct Sigmoid {
  static constexpr DerivativeReads kind = DerivativeReads::of_y;
  static real value(real x) { return sigmoid(x); }
  static real derivative(real, real y) { return y * (1 - y); }
};

struct Relu {
  static constexpr DerivativeReads kind = DerivativeReads::selects;
  static real value(real x) { return x < 0 ? 0 : x; }  // a NaN stays a NaN
  static real gradient(real x, real dy) {
    const real passed = or_nan(dy, x);
    return (x <= 0) | (dy == 0) ? 0 : passed;
  }
};

/// max(x, 0) + a min(x, 0), a != 0.
struct LeakyRelu {
  static constexpr DerivativeReads kind = DerivativeReads::selects;
  real leak;
  real value(real x) const { return x > 0 ? x : leak * x; }
  real gradient(real x, real dy) const {
    const real leaked = leak * dy, passed = or_nan(x > 0 ? dy : leaked, x);
    return dy == 0 ? 0 : passed;
  }
};

/// x for x > 0, a (exp(x) - 1) elsewhere, a != 0 (Clevert et al. 2016).
struct Elu {
  static constexpr DerivativeReads kind = DerivativeReads::selects;
  real alpha;
  real value(real x) const { return x > 0 ? x : alpha * exponential_minus_1(x); }
  real gradient(real x, real dy) const {
    const bool calls = sizeof(real) == 8;  // the library's exp, which is quick at 0
    const real derivative = alpha * exponential(calls && x > 0 ? 0 : x);
    const real bent = derivative * dy, passed = x > 0 ? dy : bent;
    return (derivative == 0) | (dy == 0) ? 0 : passed;
  }
};

/// x sigmoid(x), with its limits at the infinities.
struct Silu {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static real value(real x) {
    const real s = sigmoid(x);
    return s == 0 ? 0 : x * s;
  }
  static real derivative(real x, real) {
    const real s = sigmoid(x), rest = sigmoid(-x);
    return s + (s == 0 || rest == 0 ? 0 : x * s * rest);
  }
};

/// log(1 + exp(a x)) / a, and x itself where a x > b.
struct Softplus {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  real beta, threshold;
  real value(real x) const {
    const real z = beta * x;
    const real curve = ((z > 0 ? z : 0) + softplus_of_negative(absolute(z))) / beta;
    return z > threshold ? x : curve;
  }
  real derivative(real x, real) const {
    const real z = beta * x;
    return z > threshold ? 1 : sigmoid(z);
  }
};

/// x / (1 + |x|).
struct Softsign {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static real value(real x) {
    const real a = absolute(x);
    return a > kLargest ? (x < 0 ? real(-1) : real(1)) : x / (1 + a);
  }
  static real derivative(real x, real) {
    const real r = 1 / (1 + absolute(x));
    return r * r;
  }
};

struct ValueAndDerivative {
  real value, derivative;
};

/// x Phi(x) (Hendrycks and Gimpel 2016), derivative Phi(x) + x phi(x). Products come first and selections last, so that
/// the code has no branches.
struct Gelu {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static ValueAndDerivative both(real x) {
    const Normal n = normal(x);
    const real value = x * n.cumulative, bend = x * n.density;
    return {x < real(-14) ? 0 : value, n.cumulative + (n.density == 0 ? 0 : bend)};
  }
  static real value(real x) { return both(x).value; }
  static real derivative(real x, real) { return both(x).derivative; }
};

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the same paper's approximation.
struct GeluTanh {
  static constexpr DerivativeReads kind = DerivativeReads::of_x;
  static ValueAndDerivative both(real x) {
    constexpr real c = real(0.79788456080286535588), k = real(0.044715);
    const real t = hyperbolic_tangent(c * (x + k * x * x * x)), steepness = 1 - t * t;
    const real value = real(0.5) * x * (1 + t), bend = real(0.5) * x * steepness * c * (1 + 3 * k * x * x);
    return {t == -1 ? 0 : value, real(0.5) * (1 + t) + (steepness == 0 ? 0 : bend)};
  }
  static real value(real x) { return both(x).value; }
  static real derivative(real x, real) { return both(x).derivative; }
};

/// Whether the vector code for sine and cosine is correct for every element.
bool moderate(const real* x, index_t n) {
  int large = 0;
  for (index_t i = 0; i < n; ++i) large |= absolute(x[i]) > kLargestAngle;
  return large == 0;
}

/// Calls run(function object of f), which will apply it to x.
template <class Run>
void with_function(Unary f, Constants c, const real* x, index_t n, const Run& run) {
  switch (f) {
    case Unary::exp:
      return run(Exp{});
    case Unary::expm1:
      return run(Expm1{});
    case Unary::log:
      return run(Log{});
    case Unary::log1p:
      return run(Log1p{});
    case Unary::sqrt:
      return run(Sqrt{});
    case Unary::sin:
      return moderate(x, n) ? run(Sin{}) : run(LibrarySin{});
    case Unary::cos:
      return moderate(x, n) ? run(Cos{}) : run(LibraryCos{});
    case Unary::abs:
      return run(Abs{});
    case Unary::clamp:
      return run(Clamp{c.a, c.b});
    case Unary::tanh:
      return run(Tanh{});
    case Unary::sigmoid:
      return run(Sigmoid{});
    case Unary::relu:
      return run(Relu{});
    case Unary::leaky_relu:
      return c.a == 0 ? run(Relu{}) : run(LeakyRelu{c.a});
    case Unary::elu:
      return c.a == 0 ? run(Relu{}) : run(Elu{c.a});
    case Unary::silu:
      return run(Silu{});
    case Unary::softplus:
      return run(Softplus{c.a, c.b});
    case Unary::softsign:
      return run(Softsign{});
    case Unary::gelu:
      return run(Gelu{});
    case Unary::gelu_tanh:
      return run(GeluTanh{});
  }
}

void value(Unary f, Constants c, const real* x, real* y, index_t n) {
  with_function(f, c, x, n, [=](auto function) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = function.value(x[i]);
  });
}

void value_and_derivative(Unary f, Constants c, const real* x, real* y, real* derivative, index_t n) {
  with_function(f, c, x, n, [=](auto function) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) {
      if constexpr (requires { function.both(x[i]); }) {
        const ValueAndDerivative result = function.both(x[i]);
        derivative[i] = result.derivative;
        y[i] = result.value;
      } else {
        const real result = function.value(x[i]);
        if constexpr (decltype(function)::kind == DerivativeReads::selects) derivative[i] = function.gradient(x[i], 1);
        else derivative[i] = function.derivative(x[i], result);
        y[i] = result;
      }
    }
  });
}

/// An upstream gradient of exactly zero gives zero even where the derivative is infinite (sqrt at 0).
void backward(Unary f, Constants c, const real* x, const real* y, const real* dy, Output dx, index_t n) {
  with_function(f, c, x, n, [=](auto function) {
    const auto term = [=](index_t i) -> real {
      constexpr DerivativeReads kind = decltype(function)::kind;
      if constexpr (kind == DerivativeReads::selects) return function.gradient(x[i], dy[i]);
      else {
        const real derivative =
            function.derivative(kind == DerivativeReads::of_y ? 0 : x[i], kind == DerivativeReads::of_y ? y[i] : 0);
        return dy[i] == 0 ? 0 : dy[i] * derivative;
      }
    };
    store_each(dx, n, term);
  });
}

}  // namespace

const UnaryTable unary_table = {value, value_and_derivative, backward};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
