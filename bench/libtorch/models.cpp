// Whole models: forward, backward, AdamW. The parameters have the same names as in xtape.
#include "workloads.hpp"

#include <cmath>

namespace bench {

namespace {

namespace nn = torch::nn;
using torch::Tensor;

/// One training step of a network whose forward pass returns the loss.
template <class Network>
class Training final : public Workload {
 public:
  template <class Sizes>
  explicit Training(const Sizes& sizes)
      : network_(std::make_shared<Network>(sizes)),
        optimizer_(initialized(*network_), torch::optim::AdamWOptions(kRate).weight_decay(kDecay)) {}

  void step() override {
    network_->zero_grad(/*set_to_none=*/true);
    const Tensor loss = network_->forward();
    loss.backward();
    optimizer_.step();
    loss_ = loss.template item<double>();
  }
  double loss() const override { return loss_; }
  double gradient_norm() const override { return norm_of_gradients(network_->parameters()); }

 private:
  static std::vector<Tensor> initialized(nn::Module& network) {
    for (auto& named : network.named_parameters()) {
      Tensor& p = named.value();
      fill_parameter(named.key(), p.dim(), p.size(-1), p.data_ptr<float>(), p.numel());
    }
    return network.parameters();
  }

  std::shared_ptr<Network> network_;
  torch::optim::AdamW optimizer_;
  double loss_ = 0;
};

struct SelfAttention : nn::Module {
  SelfAttention(std::int64_t width, std::int64_t heads)
      : in_proj_weight(register_parameter("in_proj_weight", torch::empty({3 * width, width}))),
        in_proj_bias(register_parameter("in_proj_bias", torch::empty({3 * width}))),
        out_proj(register_module("out_proj", nn::Linear(width, width))),
        heads_(heads) {}

  Tensor forward(const Tensor& x, const Tensor& mask) {
    const std::int64_t b = x.size(0), t = x.size(1), c = x.size(2), d = c / heads_;
    const Tensor qkv = torch::linear(x, in_proj_weight, in_proj_bias)
                           .view({b, t, 3, heads_, d})
                           .permute({2, 0, 3, 1, 4})
                           .reshape({3, b * heads_, t, d});
    const Tensor y = attention(qkv[0], qkv[1], qkv[2], mask);
    return out_proj(y.view({b, heads_, t, d}).transpose(1, 2).reshape({b, t, c}));
  }

  Tensor in_proj_weight, in_proj_bias;
  nn::Linear out_proj;

 private:
  std::int64_t heads_;
};

struct Block : nn::Module {
  Block(std::int64_t width, std::int64_t heads)
      : norm1(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})))),
        self_attn(register_module("self_attn", std::make_shared<SelfAttention>(width, heads))),
        norm2(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})))),
        linear1(register_module("linear1", nn::Linear(width, 4 * width))),
        linear2(register_module("linear2", nn::Linear(4 * width, width))) {}

  Tensor forward(Tensor x, const Tensor& mask) {
    x = x + self_attn->forward(norm1(x), mask);
    return x + linear2(torch::gelu(linear1(norm2(x))));
  }

  nn::LayerNorm norm1;
  std::shared_ptr<SelfAttention> self_attn;
  nn::LayerNorm norm2;
  nn::Linear linear1, linear2;
};

struct Gpt : nn::Module {
  explicit Gpt(const GptSizes& s)
      : token_embedding(register_module("token_embedding", nn::Embedding(s.vocab, s.width))),
        position_embedding(register_module("position_embedding", nn::Embedding(s.length, s.width))),
        layers(register_module("layers", nn::ModuleList())),
        norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({s.width})))),
        head(register_module("head", nn::Linear(s.width, s.vocab))),
        inputs_(class_numbers("inputs", s.vocab, {s.batch, s.length})),
        targets_(class_numbers("targets", s.vocab, {s.batch * s.length})),
        positions_(torch::arange(s.length)),
        mask_(causal_mask(s.length)) {
    for (std::int64_t i = 0; i < s.layers; ++i) layers->push_back(std::make_shared<Block>(s.width, s.heads));
  }

  Tensor forward() {
    Tensor x = token_embedding(inputs_) + position_embedding(positions_);
    for (const auto& layer : *layers) x = layer->as<Block>()->forward(x, mask_);
    return torch::cross_entropy_loss(head(norm(x)).flatten(0, 1), targets_);
  }

  nn::Embedding token_embedding, position_embedding;
  nn::ModuleList layers;
  nn::LayerNorm norm;
  nn::Linear head;

 private:
  Tensor inputs_, targets_, positions_, mask_;
};

/// Recurrent layers of type `Layer` (nn::RNN, nn::GRU, nn::LSTM), registered as `name`. The time axis comes first,
/// which saves LibTorch a transposition.
template <class Layer, class Options>
struct Recurrent : nn::Module {
  Recurrent(const RecurrentSizes& s, const char* name)
      : embedding(register_module("embedding", nn::Embedding(s.vocab, s.embedding))),
        layer(register_module(name, Layer(Options(s.embedding, s.hidden).num_layers(s.layers)))),
        head(register_module("head", nn::Linear(s.hidden, s.vocab))),
        inputs_(time_first("inputs", s)),
        targets_(time_first("targets", s).flatten()) {}

  Tensor forward() {
    const Tensor y = std::get<0>(layer->forward(embedding(inputs_)));
    return torch::cross_entropy_loss(head(y).flatten(0, 1), targets_);
  }

  nn::Embedding embedding;
  Layer layer;
  nn::Linear head;

 private:
  static Tensor time_first(const char* name, const RecurrentSizes& s) {
    return class_numbers(name, s.vocab, {s.batch, s.length}).t().contiguous();
  }

  Tensor inputs_, targets_;
};

struct Rnn : Recurrent<nn::RNN, nn::RNNOptions> {
  explicit Rnn(const RecurrentSizes& s) : Recurrent(s, "rnn") {}
};
struct Gru : Recurrent<nn::GRU, nn::GRUOptions> {
  explicit Gru(const RecurrentSizes& s) : Recurrent(s, "gru") {}
};
struct Lstm : Recurrent<nn::LSTM, nn::LSTMOptions> {
  explicit Lstm(const RecurrentSizes& s) : Recurrent(s, "lstm") {}
};

struct Mlp : nn::Module {
  explicit Mlp(const MlpSizes& s)
      : linear1(register_module("linear1", nn::Linear(s.inputs, s.hidden))),
        norm1(register_module("norm1", nn::BatchNorm1d(s.hidden))),
        linear2(register_module("linear2", nn::Linear(s.hidden, s.hidden))),
        norm2(register_module("norm2", nn::BatchNorm1d(s.hidden))),
        linear3(register_module("linear3", nn::Linear(s.hidden, s.classes))),
        inputs_(numbers("inputs", {s.batch, s.inputs})),
        targets_(class_numbers("targets", s.classes, {s.batch})) {}

  Tensor forward() {
    const Tensor x = torch::relu(norm1(linear1(inputs_)));
    return torch::cross_entropy_loss(linear3(torch::relu(norm2(linear2(x)))), targets_);
  }

  nn::Linear linear1;
  nn::BatchNorm1d norm1;
  nn::Linear linear2;
  nn::BatchNorm1d norm2;
  nn::Linear linear3;

 private:
  Tensor inputs_, targets_;
};

}  // namespace

std::unique_ptr<Workload> make(const GptSizes& sizes) { return std::make_unique<Training<Gpt>>(sizes); }
std::unique_ptr<Workload> make(const RecurrentSizes& sizes) {
  switch (sizes.cell) {
    case Cell::rnn:
      return std::make_unique<Training<Rnn>>(sizes);
    case Cell::gru:
      return std::make_unique<Training<Gru>>(sizes);
    default:
      return std::make_unique<Training<Lstm>>(sizes);
  }
}
std::unique_ptr<Workload> make(const MlpSizes& sizes) { return std::make_unique<Training<Mlp>>(sizes); }

}  // namespace bench
