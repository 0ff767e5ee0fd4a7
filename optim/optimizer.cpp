#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/optim/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace xtape::inline XTAPE_DTYPE {

namespace {

std::string options_text(const std::map<std::string, double>& options) {
  std::string out;
  for (const auto& [name, value] : options) out += (out.empty() ? "" : ", ") + name + " " + number_text(value);
  return out;
}

}  // namespace

Optimizer::Optimizer(std::string name, Decay decay, std::vector<ParamGroup> groups, std::vector<std::string> slots,
                     std::map<std::string, double> options)
    : name_(std::move(name)),
      decay_(decay),
      groups_(std::move(groups)),
      slots_(std::move(slots)),
      options_(std::move(options)) {
  check_groups(name_, groups_);
}

void Optimizer::check_beta(const std::string& optimizer, const char* option, double weight) {
  if (!(weight >= 0 && weight < 1))
    throw ValueError(optimizer, std::string(option) + " must be at least 0 and below 1, not " + number_text(weight));
}

bool Optimizer::step(double lr) {
  if (!(lr >= 0) || std::isinf(lr))
    throw ValueError(name_, "the learning rate must not be negative or infinite, but is " + number_text(lr));
  const bool finite = gradients_finite(groups_);
  std::vector<std::pair<Memory*, Update>> updates;  // everything that can throw comes before the first change
  if (finite) {
    for (const ParamGroup& group : groups_) {
      for (Parameter parameter : group.parameters) {
        if (!parameter.trainable() || !parameter.has_grad()) continue;
        updates.emplace_back(&memory_[parameter.name()], prepare(group, parameter, lr * group.lr_scale));
      }
    }
  }
  for (auto& [parameter, memory] : memory_) memory.update_norm = 0;
  for (auto& [memory, what] : updates) {
    memory->update_norm = std::sqrt(update(what));
    memory->state.steps = what.steps;
  }
  return finite;
}

Optimizer::Update Optimizer::prepare(const ParamGroup& group, Parameter& parameter, double lr) {
  ParameterState& state = memory_[parameter.name()].state;
  Update out{.lr = lr,
             .l2 = decay_ == Decay::l2 ? group.weight_decay : 0,
             .decay = decay_ == Decay::decoupled ? lr * group.weight_decay : 0,
             .steps = state.steps + 1,
             .gradient = parameter.grad().data(),
             .value = parameter.edit(),
             .slots = {},
             .size = parameter.numel()};
  for (const std::string& name : slots_) {
    Array& slot = state.slots[name];
    if (state.steps == 0) {
      slot = Array(parameter.shape());
      kernels::fill(slot.data(), 0, parameter.numel());
    }
    out.slots.push_back(slot.data());
  }
  return out;
}

double Optimizer::update_norm(const Parameter& parameter) const {
  const auto found = memory_.find(parameter.name());
  return found == memory_.end() ? 0 : found->second.update_norm;
}

OptimizerState Optimizer::state() const {
  OptimizerState out{.optimizer = name_, .options = options_, .parameters = {}};
  for (const auto& [name, memory] : memory_)
    if (memory.state.steps > 0) out.parameters.emplace(name, memory.state);
  return out;
}

void Optimizer::load_state(const OptimizerState& state) {
  check(state);
  std::map<std::string, Memory> memory;
  for (const auto& [name, parameter_state] : state.parameters) memory[name].state = parameter_state;
  memory_ = std::move(memory);
}

void Optimizer::check(const OptimizerState& state) const {
  if (state.optimizer != name_) throw ValueError(name_, "this is the state of another optimizer, " + state.optimizer);
  if (state.options != options_)
    throw ValueError(name_, "the state comes from other options (" + options_text(state.options) +
                                ") than this optimizer's (" + options_text(options_) + ")");
  std::map<std::string, Parameter> known;
  for (const ParamGroup& group : groups_)
    for (const Parameter& parameter : group.parameters) known.emplace(parameter.name(), parameter);
  for (const auto& [name, parameter_state] : state.parameters) {
    const auto found = known.find(name);
    if (found == known.end()) throw NameError(name_, "no parameter of this optimizer is named '" + name + "'");
    check_parameter(found->second, parameter_state);
  }
}

void Optimizer::check_parameter(const Parameter& parameter, const ParameterState& state) const {
  if (state.steps < 1)
    throw ValueError(name_, "the state of " + parameter.name() + " has " + std::to_string(state.steps) + " steps");
  for (const std::string& slot : slots_) {
    const auto found = state.slots.find(slot);
    if (found == state.slots.end())
      throw NameError(name_, "the state of " + parameter.name() + " has no '" + slot + "'");
    if (!same_shape(found->second.shape(), parameter.shape()))
      fail_shapes<Shape>(name_, "'" + slot + "' of " + parameter.name() + " has another shape",
                         {parameter.shape(), found->second.shape()});
  }
  for (const auto& [slot, value] : state.slots)
    if (std::find(slots_.begin(), slots_.end(), slot) == slots_.end())
      throw NameError(name_, "the state of " + parameter.name() + " has an unknown '" + slot + "'");
}

}  // namespace xtape::inline XTAPE_DTYPE
