#include <xtape/core/error.hpp>
#include <xtape/core/kernels/optim.hpp>
#include <xtape/core/number_text.hpp>
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
    throw ValueError(name, "dampening must be from 0 to 1, not " + number_text(options.dampening));
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
    throw ValueError(name, "nesterov needs a momentum and no dampening");
}

double SgdBase::update(const Update& u) const {
  const bool remembers = !u.slots.empty();
  const kernels::MomentumStep numbers{.keep = options_.momentum,
                                      .fresh = u.steps == 1 ? 1 : 1 - options_.dampening,
                                      .gradient_rate = !remembers || options_.nesterov ? u.lr : 0,
                                      .velocity_rate = options_.nesterov ? u.lr * options_.momentum : u.lr,
                                      .l2 = u.l2,
                                      .decay = u.decay};
  return kernels::momentum(numbers, u.gradient, u.value, remembers ? u.slots[0] : nullptr, u.size);
}

}  // namespace xtape::inline XTAPE_DTYPE
