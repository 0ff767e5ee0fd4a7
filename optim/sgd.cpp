#include <xtape/core/error.hpp>
#include <xtape/core/kernels/optim.hpp>
#include <xtape/optim/sgd.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

SGD::SGD(const char* name, Decay decay, std::vector<ParamGroup> groups, const SgdOptions& options)
    : Optimizer(
          name, decay, std::move(groups),
          options.momentum == 0 ? std::vector<std::string>() : std::vector<std::string>{"momentum_buffer"},
          {{"momentum", options.momentum}, {"dampening", options.dampening}, {"nesterov", options.nesterov ? 1 : 0}}),
      options_(options) {
  check_beta(name, "momentum", options.momentum);
  if (!(options.dampening >= 0 && options.dampening <= 1))
    throw ValueError(name, "a dampening from 0 to 1", options.dampening);
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
    throw ValueError(name, "a momentum and no dampening for nesterov", options.momentum, options.dampening);
}

kernels::MomentumStep SGD::numbers(const Update& u) const {
  const bool remembers = options_.momentum != 0;
  return {.keep = options_.momentum,
          .fresh = u.steps == 1 ? 1 : 1 - options_.dampening,
          .gradient_rate = !remembers || options_.nesterov ? u.lr : 0,
          .velocity_rate = options_.nesterov ? u.lr * options_.momentum : u.lr,
          .l2 = u.l2,
          .decay = u.decay};
}

double SGD::update(const Update& u) const {
  return kernels::momentum(numbers(u), u.gradient, u.value, u.slots.empty() ? nullptr : u.slots[0], u.size);
}

double SGD::bound(const Update& rates, double gradient, Bounds& state) const {
  return kernels::largest_in_step(numbers(rates), gradient, state);
}

AveragedSGD::AveragedSGD(const char* name, Decay decay, std::vector<ParamGroup> groups,
                         const AveragedSgdOptions& options)
    : Optimizer(name, decay, std::move(groups), {"exp_avg"},
                {{"beta", options.beta}, {"bias_correction", options.bias_correction ? 1 : 0}}),
      options_(options) {
  check_beta(name, "beta", options.beta);
}

kernels::MomentumStep AveragedSGD::numbers(const Update& u) const {
  const double weight = options_.bias_correction ? 1 - std::pow(options_.beta, static_cast<double>(u.steps)) : 1;
  return {.keep = options_.beta,
          .fresh = 1 - options_.beta,
          .gradient_rate = 0,
          .velocity_rate = u.lr / weight,
          .l2 = u.l2,
          .decay = u.decay};
}

double AveragedSGD::update(const Update& u) const {
  return kernels::momentum(numbers(u), u.gradient, u.value, u.slots[0], u.size);
}

double AveragedSGD::bound(const Update& rates, double gradient, Bounds& state) const {
  return kernels::largest_in_step(numbers(rates), gradient, state);
}

}  // namespace xtape::inline XTAPE_DTYPE
