// Central differences of whole layers: their inputs and every one of their parameters.
#pragma once

#include "support.hpp"

#include <xtape/core/gradcheck.hpp>

namespace xtape::test {

/// Builds a layer in a scope; the result holds the layer and is called with the inputs.
using LayerBuilder = std::function<TensorFunction(const Scope&)>;

struct LayerCase {
  std::string layer;  ///< name of the class
  std::string title;
  std::vector<Array> inputs;
  LayerBuilder build;
};

/// Every layer and model, in its variants.
std::vector<LayerCase> layer_grad_cases();

/// As gradcheck, over the inputs and over parameters with random values. The layer is built anew for each evaluation,
/// so that what it keeps from call to call (mask counters, running statistics) is the same in all.
GradCheckResult layer_gradcheck(const LayerCase& entry);

}  // namespace xtape::test
