#include <xtape/core/error.hpp>
#include <xtape/core/kernels/elementwise.hpp>
#include <xtape/core/kernels/optimize.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/optim/adam.hpp>

#include <cmath>

namespace xtape::inline XTAPE_FLAVOUR {

namespace {

kernels::AdamNumbers numbers(const AdamOptions& o, std::int64_t step, double lr, double decay, bool decoupled) {
  const auto t = static_cast<double>(step);
  return {.beta1 = o.beta1,
          .beta2 = o.beta2,
          .epsilon = o.eps,
          .step = lr / (1 - std::pow(o.beta1, t)),
          .v_scale = 1 / std::sqrt(1 - std::pow(o.beta2, t)),
          .keep = decoupled ? 1 - lr * decay : 1,
          .l2 = decoupled ? 0 : decay};
}

}  // namespace

AdamBase::AdamBase(const char* name, Decay decay, std::vector<ParamGroup> groups, const AdamOptions& options)
    : name_(name), decay_(decay), groups_(std::move(groups)), options_(options) {
  const auto beta = [](double b) { return b >= 0 && b < 1; };
  if (!beta(options.beta1) || !beta(options.beta2))
    throw ValueError(name, "beta1 and beta2 must be at least 0 and below 1, not " + std::to_string(options.beta1) +
                               " and " + std::to_string(options.beta2));
  if (!(options.eps >= 0)) throw ValueError(name, "eps must not be negative, but is " + std::to_string(options.eps));
  check_groups(name, groups_);
}

bool AdamBase::step(double lr) {
  if (!(lr >= 0) || std::isinf(lr))
    throw ValueError(name_, "the learning rate must not be negative or infinite, but is " + std::to_string(lr));
  if (!gradients_finite(groups_)) return false;
  for (ParamGroup& group : groups_) {
    for (Parameter& parameter : group.parameters) {
      if (!parameter.trainable() || !parameter.has_grad()) continue;
      AdamState& state = state_[parameter.name()];
      if (state.steps == 0) state.first = state.second = Tensor::zeros(parameter.shape()).value();
      const kernels::AdamNumbers n =
          numbers(options_, ++state.steps, lr * group.lr_scale, group.weight_decay, decay_ == Decay::decoupled);
      kernels::adam(n, parameter.grad().data(), parameter.edit(), state.first.data(), state.second.data(),
                    parameter.size());
    }
  }
  last_lr_ = lr;
  return true;
}

double AdamBase::update_norm(const Parameter& parameter) const {
  const auto found = state_.find(parameter.name());
  if (found == state_.end()) return 0;
  const AdamState& state = found->second;
  for (const ParamGroup& group : groups_) {
    for (const Parameter& member : group.parameters) {
      if (!member.same_as(parameter)) continue;
      const kernels::AdamNumbers n =
          numbers(options_, state.steps, last_lr_ * group.lr_scale, group.weight_decay, decay_ == Decay::decoupled);
      double squares = 0;
      for (index_t i = 0; i < parameter.size(); ++i) {
        const double m = static_cast<double>(state.first.data()[i]), v = static_cast<double>(state.second.data()[i]);
        const double moved = n.step * m / (std::sqrt(v) * n.v_scale + n.epsilon);
        const double before = n.keep == 0 ? 0 : (static_cast<double>(parameter.value().data()[i]) + moved) / n.keep;
        const double change = moved + (1 - n.keep) * before;
        squares += change * change;
      }
      return std::sqrt(squares);
    }
  }
  return 0;
}

}  // namespace xtape::inline XTAPE_FLAVOUR
