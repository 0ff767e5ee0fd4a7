#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/reduce.hpp>
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
  if (!(weight >= 0 && weight < 1)) throw ValueError(optimizer, std::string(option) + " from 0 to below 1", weight);
}

double Optimizer::bound(const Update&, double, Bounds&) const { return std::numeric_limits<double>::infinity(); }

bool Optimizer::step(double lr) {
  if (!(lr >= 0) || std::isinf(lr)) throw ValueError(name_, "a learning rate that is finite and at least 0", lr);
  std::vector<Pending> updates = pending(lr);  // everything that can throw comes before the first change
  const bool fits = all_fit(updates);
  if (fits)
    for (Pending& one : updates) prepare(one);
  for (auto& [parameter, memory] : memory_) memory.update_norm = 0;
  if (fits)
    for (Pending& one : updates) make(one);
  return fits;
}

/// The updates of a step, with rates but without arrays to write into.
std::vector<Optimizer::Pending> Optimizer::pending(double lr) {
  std::vector<Pending> out;
  out.reserve(memory_.size());
  for (const ParamGroup& group : groups_) {
    for (const Parameter& parameter : group.parameters) {
      if (!parameter.trainable() || !parameter.has_grad()) continue;
      Memory& memory = memory_[parameter.name()];
      const double rate = lr * group.lr_scale;
      const Update update{.lr = rate,
                          .l2 = decay_ == Decay::l2 ? group.weight_decay : 0,
                          .decay = decay_ == Decay::decoupled ? rate * group.weight_decay : 0,
                          .steps = memory.state.steps + 1,
                          .gradient = parameter.grad().data(),
                          .value = nullptr,
                          .slots = {},
                          .size = parameter.numel()};
      out.push_back({parameter, &memory, update, {}, nullptr});
    }
  }
  return out;
}

namespace {

index_t size_of(const Array& x) { return numel(x); }

double bound_of(const Array& x) { return kernels::magnitude_bound(x.data(), size_of(x)); }

}  // namespace

/// Whether all gradients are finite, and all numbers after the step. Tries those updates on copies for which that is
/// not certain.
bool Optimizer::all_fit(std::vector<Pending>& pending) const {
  std::vector<double> gradients;
  for (const Pending& one : pending) {
    gradients.push_back(kernels::magnitude_bound(one.update.gradient, one.update.size));
    if (!std::isfinite(gradients.back())) return false;
  }
  const auto finite = [](const Array& x) { return kernels::all_finite(x.data(), size_of(x)); };
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (certainly_fits(pending[i], gradients[i])) continue;
    const auto& trial = pending[i].trial = std::make_unique<Trial>(try_on_copies(pending[i]));
    if (!finite(trial->value) || !std::all_of(trial->slots.begin(), trial->slots.end(), finite)) return false;
    pending[i].bounds.clear();
  }
  return true;
}

/// Whether the bounds of the state show that the step stays in the range; they are renewed if they do not.
bool Optimizer::certainly_fits(Pending& pending, double gradient) const {
  // Far enough from the end of the range that sums of a few such numbers, and in double their squares, stay inside.
  constexpr double kCertain = sizeof(real) == 4 ? std::numeric_limits<float>::max() / 8.0 : 1e150;
  const Memory& memory = *pending.memory;
  const auto fits = [&] { return bound(pending.update, gradient, pending.bounds) <= kCertain; };
  pending.bounds = memory.bounds;
  if (!memory.bounds.empty() && memory.version == pending.parameter.version() && fits()) return true;
  pending.bounds = {bound_of(pending.parameter.value())};
  for (const std::string& name : slots_)
    pending.bounds.push_back(memory.state.steps == 0 ? 0 : bound_of(memory.state.slots.at(name)));
  return fits();
}

Optimizer::Trial Optimizer::try_on_copies(const Pending& pending) const {
  const ParameterState& state = pending.memory->state;
  Trial out{.value = pending.parameter.value(), .slots = {}};
  for (const std::string& name : slots_)
    out.slots.push_back(state.steps == 0 ? Tensor::zeros(out.value.shape()).value() : state.slots.at(name));
  Update copy = pending.update;
  copy.value = out.value.data();
  for (Array& slot : out.slots) copy.slots.push_back(slot.data());
  out.update_norm = std::sqrt(update(copy));
  if (std::isinf(out.update_norm)) {  // the squares overflowed
    Array change = pending.parameter.value();
    for (std::size_t i = 0; i < change.size(); ++i) change.data()[i] -= out.value.data()[i];
    out.update_norm = kernels::norm(change.data(), copy.size);
  }
  return out;
}

/// Makes the arrays that the update writes into.
void Optimizer::prepare(Pending& pending) {
  ParameterState& state = pending.memory->state;
  for (const std::string& name : slots_) {
    Array& slot = state.slots[name];
    if (state.steps == 0) {
      slot = empty_array(pending.parameter.shape());
      kernels::fill(slot.data(), 0, pending.update.size);
    }
    pending.update.slots.push_back(slot.data());
  }
  pending.update.value = pending.parameter.edit();
}

void Optimizer::make(Pending& pending) const {
  Memory& memory = *pending.memory;
  if (const auto& trial = pending.trial) {
    std::copy_n(trial->value.data(), pending.update.size, pending.update.value);
    for (std::size_t i = 0; i < trial->slots.size(); ++i)
      std::copy_n(trial->slots[i].data(), pending.update.size, pending.update.slots[i]);
    memory.update_norm = trial->update_norm;
  } else {
    memory.update_norm = std::sqrt(update(pending.update));
  }
  memory.bounds = std::move(pending.bounds);
  memory.version = pending.parameter.version();
  memory.state.steps = pending.update.steps;
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
  if (state.optimizer != name_) throw ValueError(name_, "a state of " + name_, state.optimizer);
  if (state.options != options_)
    throw ValueError(name_, "a state of the options " + options_text(options_), options_text(state.options));
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
    throw ValueError(name_, "a state of " + parameter.name() + " after at least 1 step", state.steps);
  for (const std::string& slot : slots_) {
    const auto found = state.slots.find(slot);
    if (found == state.slots.end())
      throw NameError(name_, "the state of " + parameter.name() + " has no '" + slot + "'");
    check_shape(name_, "'" + slot + "' of " + parameter.name(), found->second.shape(), parameter.shape());
  }
  for (const auto& [slot, value] : state.slots)
    if (std::find(slots_.begin(), slots_.end(), slot) == slots_.end())
      throw NameError(name_, "the state of " + parameter.name() + " has an unknown '" + slot + "'");
}

}  // namespace xtape::inline XTAPE_DTYPE
