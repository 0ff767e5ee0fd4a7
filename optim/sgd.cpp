#include <xtape/core/error.hpp>
#include <xtape/core/kernels/optim.hpp>
#include <xtape/optim/sgd.hpp>

namespace xtape::inline XTAPE_DTYPE {

SgdBase::SgdBase(const char* name, Decay decay, std::vector<ParamGroup> groups, const SgdOptions& options)
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

kernels::MomentumStep SgdBase::numbers(const Update& u) const {
  const bool remembers = options_.momentum != 0;
  return {.keep = options_.momentum,
          .fresh = u.steps == 1 ? 1 : 1 - options_.dampening,
          .gradient_rate = !remembers || options_.nesterov ? u.lr : 0,
          .velocity_rate = options_.nesterov ? u.lr * options_.momentum : u.lr,
          .l2 = u.l2,
          .decay = u.decay};
}

double SgdBase::update(const Update& u) const {
  return kernels::momentum(numbers(u), u.gradient, u.value, u.slots.empty() ? nullptr : u.slots[0], u.size);
}

double SgdBase::bound(const Update& rates, double gradient, Bounds& state) const {
  kernels::StateBounds bounds{state[0], state.size() > 1 ? state[1] : 0};
  const double largest = kernels::largest_in_step(numbers(rates), gradient, bounds);
  state[0] = bounds.value;
  if (state.size() > 1) state[1] = bounds.first;
  return largest;
}

}  // namespace xtape::inline XTAPE_DTYPE
