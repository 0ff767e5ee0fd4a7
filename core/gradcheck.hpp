// Gradient checks by central differences, without a test framework.
#pragma once

#include <xtape/core/tape.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

using TensorFunction = std::function<Tensor(std::span<const Tensor>)>;

/// One row of the table of gradient checks.
struct GradCase {
  std::string op;     ///< the op's name on the tape
  std::string title;  ///< what this case covers
  std::vector<Array> inputs;
  TensorFunction function;
};
using GradCases = std::vector<GradCase>;

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

/// The tables of all op files.
GradCases all_grad_cases();

GradCases arithmetic_grad_cases();
GradCases attention_grad_cases();
GradCases batch_norm_grad_cases();
GradCases concat_grad_cases();
GradCases dropout_grad_cases();
GradCases einsum_grad_cases();
GradCases indexing_grad_cases();
GradCases layer_norm_grad_cases();
GradCases linear_attention_grad_cases();
GradCases loss_grad_cases();
GradCases mask_grad_cases();
GradCases matmul_grad_cases();
GradCases recurrent_grad_cases();
GradCases reduce_grad_cases();
GradCases rotary_grad_cases();
GradCases score_attention_grad_cases();
GradCases shape_grad_cases();
GradCases softmax_grad_cases();
GradCases unary_grad_cases();

}  // namespace xtape::inline XTAPE_DTYPE
