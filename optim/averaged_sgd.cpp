#include <xtape/core/kernels/optim.hpp>
#include <xtape/optim/averaged_sgd.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

AveragedSgdBase::AveragedSgdBase(const char* name, Decay decay, std::vector<ParamGroup> groups,
                                 const AveragedSgdOptions& options)
    : Optimizer(name, decay, std::move(groups), {"exp_avg"},
                {{"beta", options.beta}, {"bias_correction", options.bias_correction ? 1 : 0}}),
      options_(options) {
  check_beta(name, "beta", options.beta);
}

kernels::MomentumStep AveragedSgdBase::numbers(const Update& u) const {
  const double weight = options_.bias_correction ? 1 - std::pow(options_.beta, static_cast<double>(u.steps)) : 1;
  return {.keep = options_.beta,
          .fresh = 1 - options_.beta,
          .gradient_rate = 0,
          .velocity_rate = u.lr / weight,
          .l2 = u.l2,
          .decay = u.decay};
}

double AveragedSgdBase::update(const Update& u) const {
  return kernels::momentum(numbers(u), u.gradient, u.value, u.slots[0], u.size);
}

double AveragedSgdBase::bound(const Update& rates, double gradient, Bounds& state) const {
  kernels::StateBounds bounds{state[0], state[1]};
  const double largest = kernels::largest_in_step(numbers(rates), gradient, bounds);
  state = {bounds.value, bounds.first};
  return largest;
}

}  // namespace xtape::inline XTAPE_DTYPE
