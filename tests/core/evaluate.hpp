// The value and all gradients of a function of tensors.
#pragma once

#include "support.hpp"

#include <xtape/inspect/measure/gradcheck.hpp>

#include <span>
#include <vector>

namespace xtape::test {

struct Evaluated {
  Array value;
  std::vector<Array> grads;  ///< gradient of sum(seed * value) with respect to each input
};

inline Evaluated evaluate(const TensorFunction& f, const std::vector<Array>& inputs, const Array& seed) {
  Tape tape;
  std::vector<Tensor> tensors;
  for (const Array& input : inputs) tensors.push_back(tape.variable(input));
  const Tensor y = f(tensors);
  Evaluated out{y.value(), {}};
  tape.backward(y, seed);
  for (const Tensor& tensor : tensors) out.grads.push_back(tape.grad(tensor));
  return out;
}

/// Evaluates with a seed of ones: the gradients are those of the sum of all elements.
inline Evaluated evaluate(const TensorFunction& f, const std::vector<Array>& inputs) {
  const std::vector<Tensor> constants(inputs.begin(), inputs.end());
  return evaluate(f, inputs, Tensor::ones(f(constants).shape()).value());
}

}  // namespace xtape::test
