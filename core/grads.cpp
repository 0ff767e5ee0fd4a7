#include <xtape/core/error.hpp>
#include <xtape/core/grads.hpp>
#include <xtape/core/kernels/arithmetic.hpp>
#include <xtape/core/kernels/reduce.hpp>
#include <xtape/core/tape.hpp>

namespace xtape::inline XTAPE_DTYPE {

bool Grads::needs(index_t input) const { return tape_.nodes_[node_].inputs[input] != Tape::kUntracked; }

Output Grads::buffer(index_t input) { return tape_.grad_buffer(tape_.nodes_[node_].inputs[input]); }

Output Grads::cleared_buffer(index_t input) {
  const Output to = buffer(input);
  if (!to.add) kernels::fill(to.data, 0, element_count(tape_.nodes_[tape_.nodes_[node_].inputs[input]].shape));
  return {to.data, true};
}

void Grads::add(index_t input, const Array& term, real scale) {
  if (!needs(input)) return;
  const Tape::Node& self = tape_.nodes_[node_];
  const Shape& shape = tape_.nodes_[self.inputs[input]].shape;
  if (term.shape() != shape) return add(input, sum_to_shape(self.op, term, shape), scale);
  kernels::scaled(term.data(), scale, buffer(input), numel(term));
}

void Grads::pass(index_t input) {
  if (!needs(input)) return;
  Tape::Node& self = tape_.nodes_[node_];
  Tape::Node& node = tape_.nodes_[self.inputs[input]];
  const index_t count = numel(upstream_.array());
  if (count != element_count(node.shape))
    throw ShapeError(self.op, "a gradient with the elements of " + shape_text(node.shape), upstream_.shape());
  const bool reshapes = upstream_.shape() != node.shape;
  if (!node.parameter && !node.grad && (!reshapes || upstream_.unique())) {
    if (reshapes) upstream_.reshape(node.shape);
    node.grad = upstream_;
    return;
  }
  kernels::scaled(upstream_.array().data(), 1, buffer(input), count);
}

const Array* Grads::upstream(index_t output) const {
  const Storage& grad = tape_.nodes_[node_ + 1 + output].grad;
  return grad ? &grad.array() : nullptr;
}

bool Grads::watches(index_t output) const { return tape_.nodes_[node_ + 1 + output].observed; }

void Grads::show(index_t output, const Array& whole) {
  tape_.show_output(node_ + 1 + static_cast<std::uint32_t>(output), whole);
}

bool Grads::watches_steps() const { return tape_.watches_steps(); }

Probe* Grads::probe() const { return tape_.probe_.get(); }

void Grads::step(const StepGrad& grad) { tape_.observe_step(grad); }

namespace {

/// Sums x over an axis, which keeps size 1.
Array sum_over(const Array& x, index_t axis) {
  Shape shape = x.shape();
  const AxisSizes along = around_axis(shape, axis);
  shape[axis] = 1;
  Array out = empty_array(shape);
  kernels::sum_axis(x.data(), along.outer, along.count, along.inner, 1, {out.data()});
  return out;
}

}  // namespace

Array sum_to_shape(const char* op, const Array& term, const Shape& shape) {
  Shape kept = term.shape();
  const index_t rank = kept.rank(), lead = rank - shape.rank();
  bool fits = lead >= 0;
  for (index_t i = 0; fits && i < shape.rank(); ++i) fits = shape[i] == kept[lead + i] || shape[i] == 1;
  if (!fits) throw ShapeError(op, "a gradient that can be summed to " + shape_text(shape), kept);
  Array out = term;
  // The leading axes first, together: one pass of column sums.
  index_t joined = 0;
  while (joined < rank && (joined < lead || (shape[joined - lead] == 1 && kept[joined] != 1))) ++joined;
  if (joined > 0) {
    index_t outer = 1, inner = 1;
    for (index_t i = 0; i < rank; ++i) (i < joined ? outer : inner) *= kept[i];
    for (index_t i = 0; i < joined; ++i) kept[i] = 1;
    Array reduced = empty_array(kept);
    kernels::sum_axis(term.data(), 1, outer, inner, 1, {reduced.data()});
    out = std::move(reduced);
  }
  for (index_t i = joined; i < rank; ++i)
    if (shape[i - lead] == 1 && out.shape()[i] != 1) out = sum_over(out, i);
  out.reshape(shape.unsigned_sizes());
  return out;
}

}  // namespace xtape::inline XTAPE_DTYPE
