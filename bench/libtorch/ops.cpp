// Single ops with their gradients, and the optimizer alone.
#include "workloads.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace bench {

torch::Tensor numbers(std::string_view name, at::IntArrayRef shape, double scale) {
  torch::Tensor out = torch::empty(shape);
  fill_uniform(name, scale, out.data_ptr<float>(), out.numel());
  return out;
}

torch::Tensor class_numbers(std::string_view name, std::int64_t bound, at::IntArrayRef shape) {
  torch::Tensor out = torch::empty(shape, torch::kLong);
  const std::vector<std::int64_t> values = classes(name, bound, out.numel());
  std::copy(values.begin(), values.end(), out.data_ptr<std::int64_t>());
  return out;
}

double norm_of_gradients(const std::vector<torch::Tensor>& parameters) {
  double squares = 0;
  for (const torch::Tensor& p : parameters) squares += std::pow(p.grad().to(torch::kDouble).norm().item<double>(), 2);
  return std::sqrt(squares);
}

torch::Tensor causal_mask(std::int64_t length) {
  return torch::full({length, length}, -std::numeric_limits<float>::infinity()).triu(1);
}

torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                        const torch::Tensor& mask) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const torch::Tensor scores =
      mask.defined() ? torch::baddbmm(mask, q, k.transpose(1, 2), 1, scale) : torch::bmm(q * scale, k.transpose(1, 2));
  return torch::bmm(torch::softmax(scores, -1), v);
}

namespace {

/// Base class of the single ops: leaf tensors that require gradients, and a fixed upstream gradient.
class Op : public Workload {
 public:
  void step() final {
    for (torch::Tensor& leaf : leaves) leaf.mutable_grad() = torch::Tensor();
    y_ = forward();
    y_.backward(upstream_);
    y_ = y_.detach();
  }
  double loss() const final { return (y_.to(torch::kDouble) * upstream_).sum().item<double>(); }
  double gradient_norm() const final { return norm_of_gradients(leaves); }

 protected:
  explicit Op(torch::Tensor upstream) : upstream_(std::move(upstream)) {}

  virtual torch::Tensor forward() = 0;

  void leaf(torch::Tensor value) { leaves.push_back(value.requires_grad_()); }

  std::vector<torch::Tensor> leaves;

 private:
  torch::Tensor upstream_, y_;
};

class Attention final : public Op {
 public:
  explicit Attention(const AttentionSizes& s)
      : Op(numbers("upstream", {s.heads, s.length, s.head_width})),
        mask_(s.causal ? causal_mask(s.length) : torch::Tensor()) {
    for (const char* name : {"q", "k", "v"}) leaf(numbers(name, {s.heads, s.length, s.head_width}));
  }

 private:
  torch::Tensor forward() override { return attention(leaves[0], leaves[1], leaves[2], mask_); }

  torch::Tensor mask_;
};

class Norm final : public Op {
 public:
  explicit Norm(const LayerNormSizes& s) : Op(numbers("upstream", {s.rows, s.width})), width_(s.width) {
    leaf(numbers("x", {s.rows, s.width}));
    leaf(numbers("gain", {s.width}));
    leaf(numbers("bias", {s.width}));
  }

 private:
  torch::Tensor forward() override { return torch::layer_norm(leaves[0], {width_}, leaves[1], leaves[2]); }

  std::int64_t width_;
};

class CrossEntropy final : public Op {
 public:
  explicit CrossEntropy(const CrossEntropySizes& s)
      : Op(torch::ones({})), targets_(class_numbers("targets", s.classes, {s.rows})) {
    leaf(numbers("logits", {s.rows, s.classes}, 4));
  }

 private:
  torch::Tensor forward() override { return torch::cross_entropy_loss(leaves[0], targets_); }

  torch::Tensor targets_;
};

class Chain final : public Op {
 public:
  explicit Chain(const ChainSizes& s)
      : Op(numbers("upstream", {s.width})), links_(s.links), start_(numbers("start", {s.width})) {
    leaf(numbers("w", {s.width}, 1e-3) + 1);
    leaf(numbers("b", {s.width}, 1e-3));
  }

  std::int64_t parts() const override { return 2 * links_; }

 private:
  torch::Tensor forward() override {
    torch::Tensor x = start_;
    for (std::int64_t i = 0; i < links_; ++i) x = x * leaves[0] + leaves[1];
    return x;
  }

  std::int64_t links_;
  torch::Tensor start_;
};

/// The "loss" is the norm of all parameters after the step.
class OptimizerAlone final : public Workload {
 public:
  explicit OptimizerAlone(const AdamWSizes& s) {
    for (std::int64_t i = 0; i < s.matrices; ++i) {
      const std::string name = "matrix" + std::to_string(i);
      parameters_.push_back(numbers(name, {s.side, s.side}).requires_grad_());
      parameters_.back().mutable_grad() = numbers("gradient of " + name, {s.side, s.side});
    }
    optimizer_.emplace(parameters_, torch::optim::AdamWOptions(kRate).weight_decay(kDecay));
  }

  void step() override { optimizer_->step(); }
  double loss() const override {
    double squares = 0;
    for (const torch::Tensor& p : parameters_) squares += std::pow(p.to(torch::kDouble).norm().item<double>(), 2);
    return std::sqrt(squares);
  }
  double gradient_norm() const override { return norm_of_gradients(parameters_); }

 private:
  std::vector<torch::Tensor> parameters_;
  std::optional<torch::optim::AdamW> optimizer_;
};

}  // namespace

std::unique_ptr<Workload> make(const AttentionSizes& sizes) { return std::make_unique<Attention>(sizes); }
std::unique_ptr<Workload> make(const LayerNormSizes& sizes) { return std::make_unique<Norm>(sizes); }
std::unique_ptr<Workload> make(const CrossEntropySizes& sizes) { return std::make_unique<CrossEntropy>(sizes); }
std::unique_ptr<Workload> make(const AdamWSizes& sizes) { return std::make_unique<OptimizerAlone>(sizes); }
std::unique_ptr<Workload> make(const ChainSizes& sizes) { return std::make_unique<Chain>(sizes); }

}  // namespace bench
