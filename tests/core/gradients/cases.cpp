#include "cases.hpp"

namespace xtape::test {

GradCases all_grad_cases() {
  GradCases all;
  for (const auto& table :
       {arithmetic_grad_cases, attention_grad_cases, batch_norm_grad_cases, concat_grad_cases, dropout_grad_cases,
        einsum_grad_cases, indexing_grad_cases, layer_norm_grad_cases, linear_attention_grad_cases, loss_grad_cases,
        mask_grad_cases, matmul_grad_cases, recurrent_grad_cases, reduce_grad_cases, rotary_grad_cases,
        score_attention_grad_cases, shape_grad_cases, softmax_grad_cases, unary_grad_cases})
    for (GradCase& entry : table()) all.push_back(std::move(entry));
  return all;
}

}  // namespace xtape::test
