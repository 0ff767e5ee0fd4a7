// Whole models: forward, backward, AdamW.
#include "workloads.hpp"

#include <cmath>
#include <optional>

namespace bench {

namespace {

using namespace xtape;

/// Base class of the models. A model's constructor builds its layers from `store`, then calls `ready`.
class Model : public Workload {
 public:
  void step() final {
    store.zero_grad();
    Tape tape;
    const Tensor loss = forward();
    tape.backward(loss);
    optimizer_->step(kRate);
    loss_ = static_cast<double>(loss.item());
  }
  double loss() const final { return loss_; }
  double gradient_norm() const final {
    double squares = 0;
    for (const Parameter& p : store.parameters()) squares += p.grad_norm() * p.grad_norm();
    return std::sqrt(squares);
  }

 protected:
  virtual Tensor forward() = 0;

  void ready() {
    for (Parameter& p : store.parameters())
      fill_parameter(p.name(), p.shape().rank(), p.shape().back(), p.edit(), p.numel());
    optimizer_.emplace(all_parameters(store, kDecay));
  }

  ParamStore store;

 private:
  std::optional<AdamW> optimizer_;
  double loss_ = 0;
};

class Gpt final : public Model {
 public:
  explicit Gpt(const GptSizes& s)
      : model_(store.root(),
               {.vocab = s.vocab, .context = s.length, .width = s.width, .heads = s.heads, .layers = s.layers}),
        inputs_(class_numbers("inputs", s.vocab, {s.batch, s.length})),
        targets_(class_numbers("targets", s.vocab, {s.batch, s.length})) {
    ready();
  }

 private:
  Tensor forward() override { return cross_entropy(model_(inputs_), targets_); }

  TransformerLM model_;
  IndexArray inputs_, targets_;
};

/// The parameters of one recurrent layer, with PyTorch's names.
class RecurrentLayer {
 public:
  RecurrentLayer(const Scope& scope, std::int64_t number, std::int64_t rows, std::int64_t inputs, std::int64_t hidden) {
    const std::string suffix = "_l" + std::to_string(number);
    weight_ih_ = scope.parameter("weight_ih" + suffix, {rows, inputs}, init::zeros());
    weight_hh_ = scope.parameter("weight_hh" + suffix, {rows, hidden}, init::zeros());
    bias_ih_ = scope.parameter("bias_ih" + suffix, {rows}, init::zeros());
    bias_hh_ = scope.parameter("bias_hh" + suffix, {rows}, init::zeros());
  }

  Tensor operator()(Cell cell, const Tensor& x) const {
    const RecurrentWeights weights = {weight_ih_, weight_hh_, bias_ih_, bias_hh_};
    switch (cell) {
      case Cell::rnn:
        return rnn(x, {}, weights).y;
      case Cell::gru:
        return gru(x, {}, weights).y;
      default:
        return lstm(x, {}, {}, weights).y;
    }
  }

 private:
  Parameter weight_ih_, weight_hh_, bias_ih_, bias_hh_;
};

class Recurrent final : public Model {
 public:
  explicit Recurrent(const RecurrentSizes& s)
      : cell_(s.cell),
        embedding_(store.root() / "embedding", s.vocab, s.embedding),
        layers_(layers(s)),
        head_(store.root() / "head", s.hidden, s.vocab),
        inputs_(class_numbers("inputs", s.vocab, {s.batch, s.length})),
        targets_(class_numbers("targets", s.vocab, {s.batch, s.length})) {
    ready();
  }

 private:
  std::vector<RecurrentLayer> layers(const RecurrentSizes& s) {
    const Scope scope = store.root() / (s.cell == Cell::rnn ? "rnn" : s.cell == Cell::gru ? "gru" : "lstm");
    const std::int64_t rows = (s.cell == Cell::rnn ? 1 : s.cell == Cell::gru ? 3 : 4) * s.hidden;
    std::vector<RecurrentLayer> out;
    for (std::int64_t i = 0; i < s.layers; ++i) out.emplace_back(scope, i, rows, i ? s.hidden : s.embedding, s.hidden);
    return out;
  }

  Tensor forward() override {
    Tensor x = embedding_(inputs_);
    for (const RecurrentLayer& layer : layers_) x = layer(cell_, x);
    return cross_entropy(head_(x), targets_);
  }

  Cell cell_;
  Embedding embedding_;
  std::vector<RecurrentLayer> layers_;
  Linear head_;
  IndexArray inputs_, targets_;
};

/// Batch norm with running statistics, like LibTorch's layer.
class Norm1d {
 public:
  Norm1d(const Scope& scope, std::int64_t width)
      : weight_(scope.parameter("weight", {width}, init::ones())),
        bias_(scope.parameter("bias", {width}, init::zeros())),
        mean_(scope.buffer("running_mean", Tensor::zeros({width}).value())),
        variance_(scope.buffer("running_var", Tensor::ones({width}).value())) {}

  Tensor operator()(const Tensor& x) const {
    const BatchNormOutput out = batch_norm(x, weight_, bias_);
    follow(mean_, out.mean);
    follow(variance_, out.variance);
    return out.y;
  }

 private:
  static void follow(Buffer running, const Array& batch) {
    real* to = running.edit();
    for (std::size_t i = 0; i < batch.size(); ++i) to[i] += real(0.1) * (batch.data()[i] - to[i]);
  }

  Parameter weight_, bias_;
  Buffer mean_, variance_;
};

class Mlp final : public Model {
 public:
  explicit Mlp(const MlpSizes& s)
      : linear1_(store.root() / "linear1", s.inputs, s.hidden),
        norm1_(store.root() / "norm1", s.hidden),
        linear2_(store.root() / "linear2", s.hidden, s.hidden),
        norm2_(store.root() / "norm2", s.hidden),
        linear3_(store.root() / "linear3", s.hidden, s.classes),
        inputs_(numbers("inputs", {s.batch, s.inputs})),
        targets_(class_numbers("targets", s.classes, {s.batch})) {
    ready();
  }

 private:
  Tensor forward() override {
    const Tensor x = relu(norm1_(linear1_(inputs_)));
    return cross_entropy(linear3_(relu(norm2_(linear2_(x)))), targets_);
  }

  Linear linear1_;
  Norm1d norm1_;
  Linear linear2_;
  Norm1d norm2_;
  Linear linear3_;
  Tensor inputs_;
  IndexArray targets_;
};

}  // namespace

std::unique_ptr<Workload> make(const GptSizes& sizes) { return std::make_unique<Gpt>(sizes); }
std::unique_ptr<Workload> make(const RecurrentSizes& sizes) { return std::make_unique<Recurrent>(sizes); }
std::unique_ptr<Workload> make(const MlpSizes& sizes) { return std::make_unique<Mlp>(sizes); }

}  // namespace bench
