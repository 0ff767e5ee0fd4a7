#include <xtape/core/error.hpp>
#include <xtape/core/grads.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

bool Grads::needs(std::size_t input) const { return tape_.nodes_[node_].inputs[input] != Tape::kUntracked; }

Output Grads::buffer(std::size_t input) { return tape_.grad_buffer(tape_.nodes_[node_].inputs[input]); }

Output Grads::cleared_buffer(std::size_t input) {
  const Output to = buffer(input);
  if (!to.add) kernels::fill(to.data, 0, element_count(tape_.nodes_[tape_.nodes_[node_].inputs[input]].shape));
  return {to.data, true};
}

void Grads::add(std::size_t input, const Array& term, real scale) {
  if (!needs(input)) return;
  const Tape::Node& self = tape_.nodes_[node_];
  const Shape& shape = tape_.nodes_[self.inputs[input]].shape;
  if (!same_shape(term.shape(), shape)) return add(input, sum_to_shape(self.op, term, shape), scale);
  kernels::scaled(term.data(), scale, buffer(input), static_cast<index_t>(term.size()));
}

void Grads::pass(std::size_t input) {
  if (!needs(input)) return;
  Tape::Node& self = tape_.nodes_[node_];
  Tape::Node& node = tape_.nodes_[self.inputs[input]];
  const auto count = static_cast<index_t>(upstream_.array().size());
  if (count != element_count(node.shape))
    throw ShapeError(self.op, "a gradient with the elements of " + shape_text(node.shape), upstream_.array().shape());
  const bool reshapes = !same_shape(upstream_.array().shape(), node.shape);
  if (!node.parameter && !node.grad && (!reshapes || upstream_.unique())) {
    if (reshapes) upstream_.edit().reshape(node.shape);
    node.grad = upstream_;
    return;
  }
  kernels::scaled(upstream_.array().data(), 1, buffer(input), count);
}

const Array* Grads::upstream(std::size_t output) const {
  const Storage& grad = tape_.nodes_[node_ + 1 + output].grad;
  return grad ? &grad.array() : nullptr;
}

bool Grads::watches(std::size_t output) const { return tape_.nodes_[node_ + 1 + output].observed; }

void Grads::show(std::size_t output, const Array& whole) {
  tape_.show_output(node_ + 1 + static_cast<std::uint32_t>(output), whole);
}

bool Grads::watches_steps() const { return tape_.watches_steps(); }

Probe* Grads::probe() const { return tape_.probe_.get(); }

void Grads::step(const StepGrad& grad) { tape_.observe_step(grad); }

namespace {

/// Sums x over an axis, which keeps size 1.
Array sum_over(const Array& x, std::size_t axis) {
  const AxisSizes along = around_axis(x.shape(), axis);
  Shape shape = x.shape();
  shape[axis] = 1;
  Array out(shape);
  kernels::sum_axis(x.data(), along.outer, along.count, along.inner, 1, {out.data()});
  return out;
}

}  // namespace

Array sum_to_shape(const char* op, const Array& term, const Shape& shape) {
  const std::size_t rank = term.dimension();
  const std::size_t lead = rank - shape.size();
  bool fits = shape.size() <= rank;
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] == term.shape()[lead + i] || shape[i] == 1;
  if (!fits) throw ShapeError(op, "a gradient that can be summed to " + shape_text(shape), term.shape());
  Array out = term;
  // The leading axes first, together: one pass of column sums.
  std::size_t joined = 0;
  while (joined < rank && (joined < lead || (shape[joined - lead] == 1 && term.shape()[joined] != 1))) ++joined;
  if (joined > 0) {
    Shape kept = term.shape();
    index_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < rank; ++i) (i < joined ? outer : inner) *= static_cast<index_t>(kept[i]);
    for (std::size_t i = 0; i < joined; ++i) kept[i] = 1;
    Array reduced(kept);
    kernels::sum_axis(term.data(), 1, outer, inner, 1, {reduced.data()});
    out = std::move(reduced);
  }
  for (std::size_t i = joined; i < rank; ++i)
    if (shape[i - lead] == 1 && out.shape()[i] != 1) out = sum_over(out, i);
  out.reshape(shape);
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
