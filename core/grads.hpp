// Grads: where a rule puts the gradients of its op's inputs.
#pragma once

#include <xtape/core/kernels/isa/output.hpp>
#include <xtape/core/tensor.hpp>

namespace xtape::inline XTAPE_DTYPE {

class Probe;
class Tape;
struct StepGrad;

/// Handed to each rule. Input i is the ith operand in the op's `record` call.
class Grads {
 public:
  /// False for constants; then there is nothing to compute.
  bool needs(std::size_t input) const;

  /// The input's own gradient buffer, of the input's shape, so that a kernel can write or add straight into it. Ask
  /// once per use and fill it whole.
  Output buffer(std::size_t input);

  /// Adds `scale * term`; a term of the broadcast shape is first summed over the axes that broadcasting made. Throws
  /// ShapeError if it cannot have come from the input. Does nothing for constants.
  void add(std::size_t input, const Array& term, real scale = 1);

  /// Adds the upstream gradient unchanged, without a copy if it is the first contribution. The element counts must
  /// agree (the shapes may differ, as in reshape). Does nothing for constants.
  void pass(std::size_t input);

  /// For the rule of an op with several outputs: the gradient of output i, or null if none reached it.
  const Array* upstream(std::size_t output) const;

  /// True if somebody wants the gradients of the steps inside a recurrent op; each is then given to `step`.
  bool watches_steps() const;
  void step(const StepGrad& grad);
  /// The probe that the tape shows itself to, or null.
  Probe* probe() const;

 private:
  friend class Tape;
  Grads(Tape& tape, std::uint32_t node, Storage& upstream) : tape_(tape), node_(node), upstream_(upstream) {}

  Tape& tape_;
  std::uint32_t node_;
  Storage& upstream_;
};

/// Sums `term` over the axes that broadcasting added to `shape`. Throws ShapeError if it does not broadcast to it.
Array sum_to_shape(const char* op, const Array& term, const Shape& shape);

}  // namespace xtape::inline XTAPE_DTYPE
