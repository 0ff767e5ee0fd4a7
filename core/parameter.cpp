#include <xtape/core/error.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/parameter.hpp>
#include <xtape/core/tape.hpp>

#include <unordered_set>

namespace xtape::inline XTAPE_DTYPE {

Parameter::Parameter(std::string name, Array value, bool decays) : data_(std::make_shared<Data>()) {
  element_count(value.shape(), "parameter");
  data_->name = std::move(name);
  data_->value = Storage(std::move(value));
  data_->decays = decays;
}

Parameter::Data& Parameter::data() const {
  if (!data_) throw ValueError("parameter", "this handle is empty: it names no parameter");
  return *data_;
}

Tensor Parameter::tensor() const {
  if (Tape* tape = Tape::recorder(); tape && trainable()) return tape->leaf(*this);
  Tensor out;
  out.storage_ = data().value;
  return out;
}

void Parameter::set_value(const Array& value) {
  check_shape("parameter " + name(), "a value", value.shape(), shape());
  data().value = Storage(value);
  ++data().version;
}

real* Parameter::edit() {
  if (!data().value.unique()) data().value = Storage(data().value.array());  // a tensor still holds the old value
  ++data().version;
  return data().value.edit();
}

const Array& Parameter::grad() const {
  if (data().state == GradState::invalid)
    throw GradientError("parameter " + name(),
                        "the last backward pass failed half-way, so the gradient is not complete; call zero_grad()");
  if (data().state == GradState::none) {
    if (data().grad.shape() != shape()) data().grad = empty_array(shape());
    kernels::fill(data().grad.data(), 0, numel());
  }
  return data().grad;
}

void Parameter::set_grad(const Array& grad) {
  check_shape("parameter " + name(), "a gradient", grad.shape(), shape());
  data().grad = grad;
  data().state = GradState::summed;
  data().cached_norm = -1;
}

double Parameter::grad_norm() const {
  const Array& gradient = grad();
  return data().cached_norm >= 0 ? data().cached_norm : kernels::norm(gradient.data(), numel());
}

void Parameter::zero_grad() {
  data().state = GradState::none;
  data().cached_norm = -1;
}

real* Parameter::edit_grad() {
  grad();
  data().state = GradState::summed;
  data().cached_norm = -1;
  return data().grad.data();
}

std::vector<Parameter> distinct(const std::vector<Parameter>& parameters) {
  std::vector<Parameter> out;
  std::unordered_set<const Parameter::Data*> seen;
  for (const Parameter& parameter : parameters)
    if (seen.insert(&parameter.data()).second) out.push_back(parameter);
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
