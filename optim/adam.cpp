#include <xtape/core/error.hpp>
#include <xtape/core/kernels/optim.hpp>
#include <xtape/optim/adam.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

Adam::Adam(const char* name, Decay decay, std::vector<ParamGroup> groups, const AdamOptions& options)
    : Optimizer(name, decay, std::move(groups), {"exp_avg", "exp_avg_sq"},
                {{"beta1", options.beta1}, {"beta2", options.beta2}, {"eps", options.eps}}),
      options_(options) {
  check_beta(name, "beta1", options.beta1);
  check_beta(name, "beta2", options.beta2);
  if (!(options.eps >= 0) || std::isinf(options.eps))
    throw ValueError(name, "an eps that is finite and at least 0", options.eps);
}

kernels::AdamStep Adam::numbers(const Update& u) const {
  const auto t = static_cast<double>(u.steps);
  return {.beta1 = options_.beta1,
          .beta2 = options_.beta2,
          .epsilon = options_.eps,
          .step = u.lr / (1 - std::pow(options_.beta1, t)),
          .v_scale = 1 / std::sqrt(1 - std::pow(options_.beta2, t)),
          .l2 = u.l2,
          .decay = u.decay};
}

double Adam::update(const Update& u) const {
  return kernels::adam(numbers(u), u.gradient, u.value, u.slots[0], u.slots[1], u.size);
}

double Adam::bound(const Update& rates, double gradient, Bounds& state) const {
  return kernels::largest_in_step(numbers(rates), gradient, state);
}

}  // namespace xtape::inline XTAPE_DTYPE
