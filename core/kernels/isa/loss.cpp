#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>
#include <xtape/core/kernels/isa/math.hpp>
#include <xtape/core/kernels/isa/store.hpp>

// Each loss with its derivatives by the input x and by the target t of element i, times an upstream gradient g. They
// select where a derivative is 0 by definition, and leave the range only if the result does.

real sign(real x) { return x > 0 ? 1 : (x < 0 ? -1 : x); }

struct Squared {
  static real value(real x, real t, index_t) { return (x - t) * (x - t); }
  static real by_input(real g, real x, real t, index_t) {
    const real d = x - t;
    const bool beyond = absolute(d) > kLargest;
    return (beyond ? 4 : 2) * (g * (beyond ? real(0.5) * x - real(0.5) * t : d));
  }
  static real by_target(real g, real x, real t, index_t i) { return by_input(g, t, x, i); }
};

struct Absolute {
  static real value(real x, real t, index_t) { return absolute(x - t); }
  static real by_input(real g, real x, real t, index_t) {
    const real s = sign(x - t), product = g * s;
    return s == 0 ? 0 : product;
  }
  static real by_target(real g, real x, real t, index_t i) { return by_input(g, t, x, i); }
};

/// d^2/2 for |d| <= delta, delta (|d| - delta/2) beyond (Huber 1964).
struct Huber {
  real delta;
  real value(real x, real t, index_t) const {
    const real half = absolute(real(0.5) * x - real(0.5) * t);  // |d| / 2 cannot overflow
    const real square = 2 * half * half, line = 2 * delta * (half - real(0.25) * delta);
    return half <= real(0.5) * delta ? square : line;
  }
  real by_input(real g, real x, real t, index_t) const {
    const real d = x - t;
    return g * (d > delta ? delta : (d < -delta ? -delta : d));
  }
  real by_target(real g, real x, real t, index_t i) const { return by_input(g, t, x, i); }
};

/// -w t log s(x) - (1 - t) log(1 - s(x)) with the sigmoid s and the weight w of the first term, computed as
/// c log(1 + exp(-|x|)) + u x with c = 1 + (w - 1) t, u = 1 - t for x > 0 and u = -w t elsewhere, in which nothing
/// cancels.
template <bool weighted>
struct BinaryCrossEntropy {
  const real* pos_weight;

  real weight(index_t i) const {
    if constexpr (weighted) return pos_weight[i];
    else return 1;
  }
  real share(real t, index_t i) const {  // c
    if constexpr (weighted) return 1 + (pos_weight[i] - 1) * t;
    else return 1;
  }
  real factor(real x, real t, index_t i) const { return x > 0 ? 1 - t : -(weight(i) * t); }  // u
  static real softplus_of_minus(real x) { return softplus_of_negative(absolute(x)) - (x > 0 ? 0 : x); }

  real value(real x, real t, index_t i) const {
    const real u = factor(x, t, i), linear = u * x;
    return share(t, i) * softplus_of_negative(absolute(x)) + (u == 0 ? 0 : linear);
  }
  real by_input(real g, real x, real t, index_t i) const {
    const real tail = share(t, i) * sigmoid(-absolute(x));
    return g * (factor(x, t, i) + (x > 0 ? -tail : tail));
  }
  real by_target(real g, real x, real, index_t i) const {
    const real more = weight(i) - 1, extra = more * softplus_of_minus(x);
    return g * (more == 0 ? -x : extra - x);
  }
  real by_pos_weight(real g, real x, real t, index_t) const {
    const real product = g * (t * softplus_of_minus(x));
    return t == 0 ? 0 : product;
  }
};

/// t (log t - x), 0 where t is 0; x is the logarithm of the other distribution (Kullback and Leibler 1951).
struct Divergence {
  static real value(real x, real t, index_t) {
    const real term = t * (logarithm(t) - x);
    return t == 0 ? 0 : term;
  }
  static real by_input(real g, real, real t, index_t) {
    const real product = -(g * t);
    return t == 0 ? 0 : product;
  }
  static real by_target(real g, real x, real t, index_t) {
    const real product = g * (logarithm(t) + 1 - x);
    return t == 0 ? 0 : product;
  }
};

/// Divergence of a target given as its logarithm t: exp(t) (t - x), 0 where t is minus infinity.
struct DivergenceOfLogs {
  static real value(real x, real t, index_t) {
    const real e = exponential(t), term = e * (t - x);
    return e == 0 ? 0 : term;
  }
  static real by_input(real g, real, real t, index_t) {
    const real e = exponential(t), product = -(g * e);
    return e == 0 ? 0 : product;
  }
  static real by_target(real g, real x, real t, index_t) {
    const real e = exponential(t), product = g * (e * (t + 1 - x));
    return e == 0 ? 0 : product;
  }
};

template <class Run>
void with_loss(const LossOperands& in, const Run& run) {
  switch (in.f) {
    case Loss::squared:
      return run(Squared{});
    case Loss::absolute:
      return run(Absolute{});
    case Loss::huber:
      return run(Huber{in.delta});
    case Loss::binary_cross_entropy:
      return in.pos_weight ? run(BinaryCrossEntropy<true>{in.pos_weight}) : run(BinaryCrossEntropy<false>{nullptr});
    case Loss::divergence:
      return run(Divergence{});
    case Loss::divergence_of_logs:
      return run(DivergenceOfLogs{});
  }
}

void value(const LossOperands& in, real* loss) {
  with_loss(in, [=, x = in.x, t = in.t, n = in.n](auto function) {
    store_each({loss}, n, [=](index_t i) { return function.value(x[i], t[i], i); });
  });
}

/// out[i] = product(weights[i], i). A weight of exactly zero gives zero even where the derivative is infinite.
template <class Product>
void weighted(LossWeights weights, Output out, index_t n, Product product) {
  const real first = n > 0 ? *weights.data : 0;
  const auto term = [=](real weight, index_t i) {
    const real gradient = product(weight, i);
    return weight == 0 ? 0 : gradient;
  };
  if (weights.step) store_each(out, n, [=, each = weights.data](index_t i) { return term(each[i], i); });
  else store_each(out, n, [=](index_t i) { return term(first, i); });
}

void backward(const LossOperands& in, Side side, LossWeights weights, Output out) {
  with_loss(in, [=, x = in.x, t = in.t, n = in.n](auto function) {
    if (side == Side::input)
      weighted(weights, out, n, [=](real g, index_t i) { return function.by_input(g, x[i], t[i], i); });
    else if (side == Side::target)
      weighted(weights, out, n, [=](real g, index_t i) { return function.by_target(g, x[i], t[i], i); });
    else if constexpr (requires { function.pos_weight; })
      weighted(weights, out, n, [=](real g, index_t i) { return function.by_pos_weight(g, x[i], t[i], i); });
  });
}

double sum_below(const real* x, real top, index_t n) {
  return sum_of(n, [=](index_t i) { return top - load(x + i); }, [=](index_t i) { return top - x[i]; });
}

/// An element with q = 0 adds nothing, even if x is minus infinity.
double soft_target_loss(const SoftTargets& in, LogSum log_sum, double* total) {
  const real shift = log_sum.shift, rest = static_cast<real>(__builtin_log(log_sum.total));
  const auto targets = [=](index_t i) { return in.a * load(in.t + i) + in.b; };
  const auto target = [=](index_t i) { return in.a * in.t[i] + in.b; };
  *total = sum_of(in.n, targets, target);
  return sum_of(
      in.n,
      [=](index_t i) {
        const Lanes q = targets(i), term = q * ((shift - load(in.x + i)) + rest);
        return q == 0 ? Lanes{} : term;
      },
      [=](index_t i) {
        const real q = target(i);
        return q == 0 ? 0 : q * ((shift - in.x[i]) + rest);
      });
}

/// Where the exponential or q is 0, so is its product.
void scaled_exp_minus_target(const SoftTargets& in, real shift, real scale, real weight, Output y) {
  store_each(y, in.n, [=](index_t i) {
    const real e = exp_of_nonpositive(in.x[i] - shift), q = in.a * in.t[i] + in.b;
    const real first = scale * e, second = weight * q;
    return (e == 0 ? 0 : first) - (q == 0 ? 0 : second);
  });
}

}  // namespace

const LossTable loss_table = {value, backward, sum_below, soft_target_loss, scaled_exp_minus_target};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
