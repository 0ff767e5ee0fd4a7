// Gradient checks by central differences, without a test framework.
#pragma once

#include <xtape/core/tape.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

using TensorFunction = std::function<Tensor(std::span<const Tensor>)>;

struct GradCheckOptions {
  double step = 1e-6;               ///< of the central difference, in units of each input
  std::uint64_t seed = 1;           ///< of the random upstream gradient
  bool twice = false;               ///< use the value of the function twice, with two upstream gradients
  bool share = false;               ///< pass the first input for every input of its shape
  std::vector<bool> constant = {};  ///< which inputs are constants
};

struct GradCheckResult {
  double worst = 0;   ///< largest |tape - difference| / max(1, |tape|, |difference|) over all elements
  std::string where;  ///< input and element of the largest error, with both values
};

/// Compares the gradient of sum(upstream * function(inputs)), with a random upstream, with central differences. Only
/// meaningful in double.
GradCheckResult gradcheck(const TensorFunction& function, const std::vector<Array>& inputs,
                          const GradCheckOptions& options = {});

/// A random array in [low, high); equal arguments give equal values.
Array sample(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1);

}  // namespace xtape::inline XTAPE_DTYPE
