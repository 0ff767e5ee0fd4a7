#include <xtape/core/error.hpp>
#include <xtape/inspect/measure/update_split.hpp>

#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

UpdateSplit::UpdateSplit(Optimizer& optimizer)
    : optimizer_(optimizer),
      options_(optimizer.state().options),
      adam_(optimizer.name() == "adam" || optimizer.name() == "adamw"),
      decoupled_(optimizer.name() == "adamw" || optimizer.name() == "sgdw") {
  if (!adam_ && !decoupled_ && optimizer.name() != "sgd")
    throw UnsupportedError("update_split", "the updates of " + optimizer.name() + " cannot be split");
  if (!optimizer.state().parameters.empty())
    throw ValueError("update_split", "the optimizer has made steps already, whose share is not known");
}

bool UpdateSplit::step(double lr, bool measured) {
  const std::vector<Moved> moved = about_to_move();
  numbers_.clear();
  weights_.clear();
  if (!optimizer_.step(lr)) return false;
  const OptimizerState state = measured && adam_ ? optimizer_.state() : OptimizerState();
  for (const Moved& m : moved) {
    Share& share = shares_[m.parameter.name()];
    advance(share, m);
    if (measured) measure(m, share, state, lr * m.group->lr_scale);
  }
  return true;
}

std::vector<UpdateSplit::Moved> UpdateSplit::about_to_move() const {
  std::vector<Moved> out;
  for (const ParamGroup& group : optimizer_.groups())
    for (const Parameter& parameter : group.parameters)
      if (parameter.trainable() && parameter.has_grad()) out.push_back({&group, parameter, parameter.value()});
  return out;
}

/// Updates the part of weight decay in the optimizer's velocity or mean by one step.
void UpdateSplit::advance(Share& share, const Moved& moved) const {
  ++share.steps;
  if (decoupled_) return;
  share.u.resize(moved.before.size());
  const double keep = adam_ ? option("beta1") : option("momentum");
  const double fresh = adam_ ? 1 - keep : share.steps == 1 ? 1 : 1 - option("dampening");
  for (std::size_t i = 0; i < share.u.size(); ++i)
    share.u[i] = keep * share.u[i] + fresh * moved.group->weight_decay * static_cast<double>(moved.before.data()[i]);
}

std::vector<double> UpdateSplit::roots_of(const Array& v, std::int64_t steps) const {
  const double correction = 1 - std::pow(option("beta2"), static_cast<double>(steps));
  std::vector<double> out;
  for (real x : v) out.push_back(std::sqrt(static_cast<double>(x) / correction));
  return out;
}

std::vector<double> UpdateSplit::decay_part(const Share& share, const Moved& moved, const std::vector<double>& roots,
                                            double lr) const {
  const double decay = moved.group->weight_decay;
  std::vector<double> out(moved.before.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double w = static_cast<double>(moved.before.data()[i]);
    if (decoupled_) out[i] = lr * decay * w;
    else if (adam_ && roots[i] + option("eps") == 0) out[i] = 0;  // such a weight does not move
    else if (adam_)
      out[i] = lr * share.u[i] / (1 - std::pow(option("beta1"), static_cast<double>(share.steps))) /
               (roots[i] + option("eps"));
    else if (option("nesterov") != 0) out[i] = lr * (decay * w + option("momentum") * share.u[i]);
    else out[i] = lr * share.u[i];
  }
  return out;
}

void UpdateSplit::measure(const Moved& moved, const Share& share, const OptimizerState& state, double lr) {
  const std::string& name = moved.parameter.name();
  const std::vector<double> roots =
      adam_ ? roots_of(state.parameters.at(name).slots.at("exp_avg_sq"), share.steps) : std::vector<double>();
  const std::vector<double> decay = decay_part(share, moved, roots, lr);
  long double update_squares = 0, gradient_squares = 0, decay_squares = 0;  // squares of doubles may overflow
  for (std::size_t i = 0; i < decay.size(); ++i) {
    const double w = static_cast<double>(moved.before.data()[i]);
    const double update = w - static_cast<double>(moved.parameter.value().data()[i]);
    const auto add_square = [](long double& sum, long double x) { sum += x * x; };
    add_square(update_squares, update);
    add_square(gradient_squares, update - decay[i]);
    add_square(decay_squares, decay[i]);
    if (adam_ && moved.group->weight_decay > 0 && w != 0) weights_.push_back({roots[i], decay[i] / w});
  }
  const auto root = [](long double squares) { return static_cast<double>(std::sqrt(squares)); };
  numbers_.push_back({name, root(update_squares), root(gradient_squares), root(decay_squares)});
}

}  // namespace xtape::inline XTAPE_DTYPE
