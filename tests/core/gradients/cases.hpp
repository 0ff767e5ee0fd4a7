// Gradient checks of every op: one table for each file of core/ops.
#pragma once

#include <xtape/core/ops.hpp>
#include <xtape/inspect/measure/gradcheck.hpp>

namespace xtape::test {

struct GradCase {
  std::string op;     ///< the op's name on the tape
  std::string title;  ///< what this case covers
  std::vector<Array> inputs;
  TensorFunction function;
};
using GradCases = std::vector<GradCase>;

/// All tables.
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

}  // namespace xtape::test
