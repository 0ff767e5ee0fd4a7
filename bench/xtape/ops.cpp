// Single ops with their gradients, and the optimizer alone.
#include "workloads.hpp"

#include <xtape/core/kernels/reduce.hpp>

#include <cmath>
#include <optional>

namespace bench {

namespace {

using namespace xtape;

double norm_of_gradients(std::initializer_list<const Parameter*> parameters) {
  double squares = 0;
  for (const Parameter* p : parameters) squares += p->grad_norm() * p->grad_norm();
  return std::sqrt(squares);
}

double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a.data()[i]) * static_cast<double>(b.data()[i]);
  return sum;
}

class Attention final : public Workload {
 public:
  explicit Attention(const AttentionSizes& s)
      : shape_(Shape{1, s.heads, s.length, s.head_width}),
        q_("q", numbers("q", shape_)),
        k_("k", numbers("k", shape_)),
        v_("v", numbers("v", shape_)),
        upstream_(numbers("upstream", shape_)),
        causal_(s.causal) {}

  void step() override {
    for (Parameter* p : {&q_, &k_, &v_}) p->zero_grad();
    Tape tape;
    const Tensor y = scaled_dot_product_attention(q_, k_, v_, {.causal = causal_});
    tape.backward(y, upstream_);
    y_ = y.detach();
  }
  double loss() const override { return dot(y_.value(), upstream_); }
  double gradient_norm() const override { return norm_of_gradients({&q_, &k_, &v_}); }

 private:
  Shape shape_;
  Parameter q_, k_, v_;
  Array upstream_;
  Tensor y_;
  bool causal_;
};

class Norm final : public Workload {
 public:
  explicit Norm(const LayerNormSizes& s)
      : shape_(Shape{s.rows, s.width}),
        x_("x", numbers("x", shape_)),
        weight_("gain", numbers("gain", {s.width})),
        bias_("bias", numbers("bias", {s.width})),
        upstream_(numbers("upstream", shape_)) {}

  void step() override {
    for (Parameter* p : {&x_, &weight_, &bias_}) p->zero_grad();
    Tape tape;
    const Tensor y = layer_norm(x_, weight_, bias_);
    tape.backward(y, upstream_);
    y_ = y.detach();
  }
  double loss() const override { return dot(y_.value(), upstream_); }
  double gradient_norm() const override { return norm_of_gradients({&x_, &weight_, &bias_}); }

 private:
  Shape shape_;
  Parameter x_, weight_, bias_;
  Array upstream_;
  Tensor y_;
};

class CrossEntropy final : public Workload {
 public:
  explicit CrossEntropy(const CrossEntropySizes& s)
      : logits_("logits", numbers("logits", {s.rows, s.classes}, 4)),
        targets_(class_numbers("targets", s.classes, {s.rows})) {}

  void step() override {
    logits_.zero_grad();
    Tape tape;
    const Tensor loss = cross_entropy(logits_, targets_);
    tape.backward(loss);
    loss_ = static_cast<double>(loss.item());
  }
  double loss() const override { return loss_; }
  double gradient_norm() const override { return logits_.grad_norm(); }

 private:
  Parameter logits_;
  IndexArray targets_;
  double loss_ = 0;
};

/// The "loss" is the norm of all parameters after the step.
class OptimizerAlone final : public Workload {
 public:
  explicit OptimizerAlone(const AdamWSizes& s) {
    for (std::int64_t i = 0; i < s.matrices; ++i) {
      const std::string name = "matrix" + std::to_string(i);
      const Shape shape = {s.side, s.side};
      parameters_.emplace_back(name, numbers(name, shape));
      parameters_.back().set_grad(numbers("gradient of " + name, shape));
    }
    optimizer_.emplace(std::vector<ParamGroup>{{.name = "all", .parameters = parameters_, .weight_decay = kDecay}});
  }

  void step() override { optimizer_->step(kRate); }
  double loss() const override {
    double squares = 0;
    for (const Parameter& p : parameters_) squares += kernels::sum_of_squares(p.value().data(), p.numel());
    return std::sqrt(squares);
  }
  double gradient_norm() const override {
    double squares = 0;
    for (const Parameter& p : parameters_) squares += p.grad_norm() * p.grad_norm();
    return std::sqrt(squares);
  }

 private:
  std::vector<Parameter> parameters_;
  std::optional<AdamW> optimizer_;
};

class Chain final : public Workload {
 public:
  explicit Chain(const ChainSizes& s)
      : links_(s.links),
        start_(numbers("start", {s.width})),
        w_("w", numbers("w", {s.width}, 1e-3)),
        b_("b", numbers("b", {s.width}, 1e-3)),
        upstream_(numbers("upstream", {s.width})) {
    real* w = w_.edit();
    for (std::int64_t i = 0; i < s.width; ++i) w[i] += 1;
  }

  void step() override {
    w_.zero_grad();
    b_.zero_grad();
    Tape tape;
    Tensor x = start_;
    const Tensor w = w_, b = b_;
    for (std::int64_t i = 0; i < links_; ++i) x = x * w + b;
    tape.backward(x, upstream_);
    y_ = x.detach();
  }
  double loss() const override { return dot(y_.value(), upstream_); }
  double gradient_norm() const override { return norm_of_gradients({&w_, &b_}); }
  std::int64_t parts() const override { return 2 * links_; }

 private:
  std::int64_t links_;
  Array start_;
  Parameter w_, b_;
  Array upstream_;
  Tensor y_;
};

}  // namespace

std::unique_ptr<Workload> make(const AttentionSizes& sizes) { return std::make_unique<Attention>(sizes); }
std::unique_ptr<Workload> make(const LayerNormSizes& sizes) { return std::make_unique<Norm>(sizes); }
std::unique_ptr<Workload> make(const CrossEntropySizes& sizes) { return std::make_unique<CrossEntropy>(sizes); }
std::unique_ptr<Workload> make(const AdamWSizes& sizes) { return std::make_unique<OptimizerAlone>(sizes); }
std::unique_ptr<Workload> make(const ChainSizes& sizes) { return std::make_unique<Chain>(sizes); }

}  // namespace bench
