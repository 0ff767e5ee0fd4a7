// Grads: where a backward function writes the gradients of its op's inputs.
#pragma once

#include <xtape/core/kernels/isa/output.hpp>
#include <xtape/core/tensor.hpp>

namespace xtape::inline XTAPE_DTYPE {

class Probe;
class Tape;
struct StepGrad;

/// Passed to each backward function. Input i is operand i of the op's `record` call.
class Grads {
 public:
  /// Whether a gradient of this input is needed; false for constants.
  bool needs(index_t input) const;

  /// The buffer of the input's gradient, of the input's shape, into which a kernel writes or adds. Call it once for
  /// each use, and fill the whole buffer.
  Output buffer(index_t input);

  /// The same, or no buffer if the gradient is not needed.
  Output buffer_if_needed(index_t input) { return needs(input) ? buffer(input) : Output{}; }

  /// The buffer for a function that only adds: set to zero before its first use.
  Output cleared_buffer(index_t input);

  /// Adds `scale * term`. A term of the broadcast shape is first summed over the broadcast axes. Does nothing for
  /// constants. Throws ShapeError if the input does not broadcast to the term.
  void add(index_t input, const Array& term, real scale = 1);

  /// Adds the upstream gradient unchanged, without a copy if it is the first contribution. The element counts must be
  /// equal; the shapes may differ, as in reshape. Does nothing for constants.
  void pass(index_t input);

  /// For an op with several outputs: the gradient of output i, or null if none reached it.
  const Array* upstream(index_t output) const;

  /// Whether someone watches the gradient of output i. If a part of it does not come from upstream, because another
  /// output is computed from this one, the op passes the whole gradient to `show`.
  bool watches(index_t output) const;
  void show(index_t output, const Array& whole);

  /// Whether a recurrent op must pass the gradient of each of its steps to `step`.
  bool watches_steps() const;
  void step(const StepGrad& grad);
  /// The probe of the tape, or null.
  Probe* probe() const;

 private:
  friend class Tape;
  Grads(Tape& tape, std::uint32_t node, Storage& upstream) : tape_(tape), node_(node), upstream_(upstream) {}

  Tape& tape_;
  std::uint32_t node_;
  Storage& upstream_;
};

/// Sums `term` over the axes along which `shape` was broadcast. Throws ShapeError if `shape` does not broadcast to it.
Array sum_to_shape(const char* op, const Array& term, const Shape& shape);

}  // namespace xtape::inline XTAPE_DTYPE
