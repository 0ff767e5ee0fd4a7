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

double AveragedSgdBase::update(const Update& u) const {
  const double weight = options_.bias_correction ? 1 - std::pow(options_.beta, static_cast<double>(u.steps)) : 1;
  const kernels::MomentumStep numbers{.keep = options_.beta,
                                      .fresh = 1 - options_.beta,
                                      .gradient_rate = 0,
                                      .velocity_rate = u.lr / weight,
                                      .l2 = u.l2,
                                      .decay = u.decay};
  return kernels::momentum(numbers, u.gradient, u.value, u.slots[0], u.size);
}

}  // namespace xtape::inline XTAPE_DTYPE
