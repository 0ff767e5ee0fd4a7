// The workloads in LibTorch, each written in the fastest way that its public C++ interface offers.
#pragma once

#include "common/numbers.hpp"
#include "common/worker.hpp"

#include <torch/torch.h>

namespace bench {

std::unique_ptr<Workload> make(const GptSizes& sizes);
std::unique_ptr<Workload> make(const RecurrentSizes& sizes);
std::unique_ptr<Workload> make(const MlpSizes& sizes);
std::unique_ptr<Workload> make(const AttentionSizes& sizes);
std::unique_ptr<Workload> make(const LayerNormSizes& sizes);
std::unique_ptr<Workload> make(const CrossEntropySizes& sizes);
std::unique_ptr<Workload> make(const AdamWSizes& sizes);
std::unique_ptr<Workload> make(const ChainSizes& sizes);

/// Uniform numbers of the stream `name`, times `scale`.
torch::Tensor numbers(std::string_view name, at::IntArrayRef shape, double scale = 1);

torch::Tensor class_numbers(std::string_view name, std::int64_t bound, at::IntArrayRef shape);

/// 2-norm of all gradients.
double norm_of_gradients(const std::vector<torch::Tensor>& parameters);

/// [length, length]: minus infinity above the diagonal, 0 elsewhere.
torch::Tensor causal_mask(std::int64_t length);

/// q, k, v [N, T, D] -> [N, T, D], where N counts sequences times heads. baddbmm scales the scores and adds the mask
/// (or an undefined tensor) in one kernel.
torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                        const torch::Tensor& mask);

}  // namespace bench
