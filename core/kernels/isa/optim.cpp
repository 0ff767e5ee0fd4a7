#include <xtape/core/kernels/isa/tables.hpp>

namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE {
namespace {

#include <xtape/core/kernels/isa/lanes.hpp>
#include <xtape/core/kernels/isa/math.hpp>

constexpr index_t kNormBlock = 512;  // changes kept in the L1 cache until their norm is computed

/// value[i] -= change(i); returns the sum of squared changes. `change` is called once for each i, in order.
template <class Change>
inline double subtract(real* value, index_t n, Change change) {
  real changes[kNormBlock];
  double squares = 0;
  for (index_t begin = 0; begin < n; begin += kNormBlock) {
    const index_t count = n - begin < kNormBlock ? n - begin : kNormBlock;
#pragma GCC ivdep
    for (index_t i = 0; i < count; ++i) {
      const real c = change(begin + i);
      changes[i] = c;
      value[begin + i] -= c;
    }
    squares += sum_of_squares(changes, count);
  }
  return squares;
}

/// `guarded`: without an epsilon, where the divisor may be 0.
template <bool guarded>
double adam_steps(const AdamStep& s, const real* gradient, real* value, real* first, real* second, index_t n) {
  const real beta1 = static_cast<real>(s.beta1), rest1 = static_cast<real>(1 - s.beta1);
  const real beta2 = static_cast<real>(s.beta2), rest2 = static_cast<real>(1 - s.beta2);
  const real epsilon = static_cast<real>(s.epsilon), step = static_cast<real>(s.step);
  const real v_scale = static_cast<real>(s.v_scale), l2 = static_cast<real>(s.l2);
  const real decay = static_cast<real>(s.decay);
  return subtract(value, n, [=](index_t i) {
    const real g = gradient[i] + l2 * value[i];
    const real m = beta1 * first[i] + rest1 * g;
    const real v = beta2 * second[i] + rest2 * g * g;
    first[i] = m;
    second[i] = v;
    const real divisor = square_root(v) * v_scale + epsilon;
    if constexpr (!guarded) return decay * value[i] + step * m / divisor;
    const real change = step * m / divisor;
    return decay * value[i] + (divisor == 0 ? 0 : change);
  });
}

double adam(const AdamStep& s, const real* gradient, real* value, real* first, real* second, index_t n) {
  const auto steps = static_cast<real>(s.epsilon) == 0 ? adam_steps<true> : adam_steps<false>;
  return steps(s, gradient, value, first, second, n);
}

double momentum(const MomentumStep& s, const real* gradient, real* value, real* velocity, index_t n) {
  const real keep = static_cast<real>(s.keep), fresh = static_cast<real>(s.fresh);
  const real gradient_rate = static_cast<real>(s.gradient_rate);
  const real velocity_rate = static_cast<real>(s.velocity_rate);
  const real l2 = static_cast<real>(s.l2), decay = static_cast<real>(s.decay);
  if (!velocity)
    return subtract(value, n,
                    [=](index_t i) { return decay * value[i] + gradient_rate * (gradient[i] + l2 * value[i]); });
  return subtract(value, n, [=](index_t i) {
    const real g = gradient[i] + l2 * value[i];
    const real v = keep * velocity[i] + fresh * g;
    velocity[i] = v;
    return decay * value[i] + gradient_rate * g + velocity_rate * v;
  });
}

}  // namespace

const OptimTable optim_table = {adam, momentum};

}  // namespace xtape::inline XTAPE_DTYPE::kernels::XTAPE_ISA_NAMESPACE
