#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>
#include <xtape/core/kernels/isa/math.hpp>
#include <xtape/core/kernels/isa/store.hpp>

// Each loss with its derivatives by the input x and by the target t.

real sign(real x) { return x > 0 ? 1 : (x < 0 ? -1 : x); }

struct Squared {
  static real value(real x, real t) { return (x - t) * (x - t); }
  static real by_input(real x, real t) { return 2 * (x - t); }
  static real by_target(real x, real t) { return 2 * (t - x); }
};

struct Absolute {
  static real value(real x, real t) { return absolute(x - t); }
  static real by_input(real x, real t) { return sign(x - t); }
  static real by_target(real x, real t) { return sign(t - x); }
};

/// d^2/2 for |d| <= delta, delta (|d| - delta/2) beyond (Huber 1964).
struct Huber {
  real delta;
  real value(real x, real t) const {
    const real d = absolute(x - t);
    return d <= delta ? real(0.5) * d * d : delta * (d - real(0.5) * delta);
  }
  real by_input(real x, real t) const {
    const real d = x - t;
    return d > delta ? delta : (d < -delta ? -delta : d);
  }
  real by_target(real x, real t) const { return by_input(t, x); }
};

/// -t log s(x) - (1 - t) log(1 - s(x)) with the sigmoid s, computed as log(1 + exp(-|x|)) + u x with u = 1 - t for x >
/// 0 and u = -t elsewhere, in which nothing cancels.
struct BinaryCrossEntropy {
  static real factor(real x, real t) { return x > 0 ? 1 - t : -t; }
  static real value(real x, real t) {
    const real u = factor(x, t);
    return softplus_of_negative(absolute(x)) + (u == 0 ? 0 : u * x);
  }
  static real by_input(real x, real t) {
    const real tail = sigmoid(-absolute(x));
    return factor(x, t) + (x > 0 ? -tail : tail);
  }
  static real by_target(real x, real) { return -x; }
};

/// t (log t - x), 0 where t is 0; x is the logarithm of the other distribution (Kullback and Leibler 1951).
struct Divergence {
  static real value(real x, real t) {
    const real term = t * (logarithm(t) - x);
    return t == 0 ? 0 : term;
  }
  static real by_input(real, real t) { return -t; }
  static real by_target(real x, real t) {
    const real derivative = logarithm(t) + 1 - x;
    return t == 0 ? 0 : derivative;
  }
};

/// Divergence of a target given as its logarithm t: exp(t) (t - x), 0 where t is minus infinity.
struct DivergenceOfLogs {
  static real value(real x, real t) {
    const real e = exponential(t), term = e * (t - x);
    return e == 0 ? 0 : term;
  }
  static real by_input(real, real t) { return -exponential(t); }
  static real by_target(real x, real t) {
    const real e = exponential(t), derivative = e * (t + 1 - x);
    return e == 0 ? 0 : derivative;
  }
};

template <class Run>
void with_loss(Loss f, real p, const Run& run) {
  switch (f) {
    case Loss::squared:
      return run(Squared{});
    case Loss::absolute:
      return run(Absolute{});
    case Loss::huber:
      return run(Huber{p});
    case Loss::binary_cross_entropy:
      return run(BinaryCrossEntropy{});
    case Loss::divergence:
      return run(Divergence{});
    case Loss::divergence_of_logs:
      return run(DivergenceOfLogs{});
  }
}

void value(Loss f, real p, const real* x, const real* t, real* loss, index_t n) {
  with_loss(f, p, [=](auto function) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) loss[i] = function.value(x[i], t[i]);
  });
}

/// out[i] = weights[i * step] derivative(i). A weight of exactly zero gives zero even where the derivative is infinite.
template <class Derivative>
void weighted(const real* weights, index_t step, real* out, bool accumulate, index_t n, Derivative derivative) {
  constexpr index_t block = 256;
  real derivatives[block];
  for (index_t begin = 0; begin < n; begin += block) {
    const index_t count = n - begin < block ? n - begin : block;
#pragma GCC ivdep
    for (index_t i = 0; i < count; ++i) derivatives[i] = derivative(begin + i);
    const real* w = weights + begin * step;
    real* to = out + begin;
    const auto term = [&](index_t i) {
      const real weight = step ? w[i] : *w;
      return weight == 0 ? 0 : weight * derivatives[i];
    };
    if (accumulate) {
#pragma GCC ivdep
      for (index_t i = 0; i < count; ++i) to[i] += term(i);
    } else {
#pragma GCC ivdep
      for (index_t i = 0; i < count; ++i) to[i] = term(i);
    }
  }
}

void backward(Loss f, real p, Side side, const real* x, const real* t, const real* weights, index_t step, real* out,
              bool accumulate, index_t n) {
  with_loss(f, p, [=](auto function) {
    if (side == Side::input)
      weighted(weights, step, out, accumulate, n, [=](index_t i) { return function.by_input(x[i], t[i]); });
    else weighted(weights, step, out, accumulate, n, [=](index_t i) { return function.by_target(x[i], t[i]); });
  });
}

double neg_log_prob_sum(const real* x, double log_sum, index_t n) {
  const Split s = split(log_sum);
  return sum_of(
      n, [=](index_t i) { return (s.high - load(x + i)) + s.low; }, [=](index_t i) { return (s.high - x[i]) + s.low; });
}

/// An element with q = 0 adds nothing, even if x is minus infinity.
double soft_target_loss(const real* x, const real* t, real a, real b, double log_sum, double* total, index_t n) {
  const Split s = split(log_sum);
  *total = sum_of(n, [=](index_t i) { return a * load(t + i) + b; }, [=](index_t i) { return a * t[i] + b; });
  return sum_of(
      n,
      [=](index_t i) {
        const Lanes q = a * load(t + i) + b, term = q * ((s.high - load(x + i)) + s.low);
        return q == 0 ? Lanes{} : term;
      },
      [=](index_t i) {
        const real q = a * t[i] + b;
        return q == 0 ? 0 : q * ((s.high - x[i]) + s.low);
      });
}

void scaled_exp_minus_target(const real* x, double log_sum, real scale, const real* t, real weight, real a, real b,
                             real* y, bool accumulate, index_t n) {
  const Split s = finite_split(log_sum);
  store_each(y, accumulate, n,
             [=](index_t i) { return scale * exponential((x[i] - s.high) - s.low) - weight * (a * t[i] + b); });
}

}  // namespace

extern const LossTable loss_table;
const LossTable loss_table = {value, backward, neg_log_prob_sum, soft_target_loss, scaled_exp_minus_target};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
