// Gradient checks of whole layers by central differences over their inputs and parameters.
#pragma once

#include "support.hpp"

#include <xtape/inspect/measure/gradcheck.hpp>

namespace xtape::test {

/// Builds a layer in a scope. The returned function holds the layer and is called with the inputs.
using LayerBuilder = std::function<TensorFunction(const Scope&)>;

struct LayerCase {
  std::string layer;  ///< name of the class
  std::string title;
  std::vector<Array> inputs;
  LayerBuilder build;
};

/// Every layer and model, with its variants.
std::vector<LayerCase> layer_grad_cases();

/// Like gradcheck, over the inputs and over parameters with random values. Every evaluation builds the layer anew, so
/// that its state (random streams, running statistics) is the same in all.
GradCheckResult layer_gradcheck(const LayerCase& entry);

}  // namespace xtape::test
