#include <xtape/core/kernels/blocked_sum.hpp>
#include <xtape/core/kernels/isa.hpp>
#include <xtape/core/kernels/optim.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE::kernels {

double adam(const AdamStep& step, const real* gradient, real* value, real* first, real* second, index_t n) {
  return blocked_sum(n, [&](index_t begin, index_t end) {
    return isa().optim.adam(step, gradient + begin, value + begin, first + begin, second + begin, end - begin);
  });
}

double momentum(const MomentumStep& step, const real* gradient, real* value, real* velocity, index_t n) {
  return blocked_sum(n, [&](index_t begin, index_t end) {
    return isa().optim.momentum(step, gradient + begin, value + begin, velocity ? velocity + begin : nullptr,
                                end - begin);
  });
}

namespace {

constexpr double kRounding = 1 + 1e-6;  // of a step in float

}  // namespace

// Sums: a NaN passes through them.
double largest_in_step(const AdamStep& s, double gradient, std::span<double> state) {
  double &value = state[0], &first = state[1], &second = state[2];
  const double g = gradient + s.l2 * value;
  first = std::max(first, g) * kRounding;
  second = std::max(second, g * g) * kRounding;
  const auto epsilon = static_cast<double>(static_cast<real>(s.epsilon));  // without, steps have no bound
  const double step = s.step * first;
  value = (value + s.decay * value + step / epsilon) * kRounding;
  return s.l2 + s.decay + s.step + step + (1 + std::sqrt(second)) * s.v_scale + value + first + second;
}

double largest_in_step(const MomentumStep& s, double gradient, std::span<double> state) {
  double none = 0;
  double &value = state[0], &velocity = state.size() > 1 ? state[1] : none;
  const double g = gradient + s.l2 * value;
  velocity = (s.keep * velocity + s.fresh * g) * kRounding;
  const double change = s.decay * value + s.gradient_rate * g + s.velocity_rate * velocity;
  value = (value + change) * kRounding;
  return s.l2 + s.decay + s.gradient_rate + s.velocity_rate + g + velocity + value;
}

}  // namespace xtape::inline XTAPE_DTYPE::kernels
