// Central differences against a tape's gradients, free of any test framework.
#pragma once

#include <xtape/core/tape.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace xtape::inline XTAPE_DTYPE {

using TensorFunction = std::function<Tensor(std::span<const Tensor>)>;

/// One entry of an op's table of gradient-check cases.
struct GradCase {
  std::string op;     ///< the name under which the op is recorded
  std::string title;  ///< what is special about this case
  std::vector<Array> inputs;
  TensorFunction function;
};
using GradCases = std::vector<GradCase>;

struct GradCheckOptions {
  double step = 1e-6;               ///< of the central difference, in units of each input
  std::uint64_t seed = 1;           ///< of the random upstream gradient
  bool twice = false;               ///< use the function's value twice, with two upstream gradients
  bool share = false;               ///< give the first input in place of every input of the same shape
  std::vector<bool> constant = {};  ///< inputs that are not tracked
};

struct GradCheckResult {
  double worst = 0;   ///< largest |tape - difference| / max(1, |tape|, |difference|) over all elements
  std::string where;  ///< input and element of the worst, with both numbers
};

/// Compares the gradient of sum(upstream * function(inputs)), upstream random, with central differences. Meaningful only
/// in double.
GradCheckResult gradcheck(const TensorFunction& function, const std::vector<Array>& inputs,
                          const GradCheckOptions& options = {});

/// Random array in [low, high) for cases and tests; the same numbers for the same arguments.
Array sample(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1);

/// The tables of all op files.
GradCases all_grad_cases();

GradCases arithmetic_grad_cases();
GradCases attention_grad_cases();
GradCases dropout_grad_cases();
GradCases einsum_grad_cases();
GradCases gather_grad_cases();
GradCases heads_grad_cases();
GradCases linear_algebra_grad_cases();
GradCases linear_attention_grad_cases();
GradCases loss_grad_cases();
GradCases mask_grad_cases();
GradCases norm_grad_cases();
GradCases recurrent_grad_cases();
GradCases reduce_grad_cases();
GradCases score_attention_grad_cases();
GradCases shape_grad_cases();
GradCases softmax_grad_cases();
GradCases unary_grad_cases();

}  // namespace xtape::inline XTAPE_DTYPE
