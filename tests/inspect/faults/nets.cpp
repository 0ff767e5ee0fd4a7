// The networks of the bench, from layers and models of the library.
#include "recipe.hpp"

#include <utility>

namespace xtape::faults {

namespace {

Tensor passed(const Middle& middle, const Tensor& x, index_t place, index_t step) {
  return middle ? middle(x, place, step) : x;
}

/// Images [B, P] -> logits [B, 10], as in the example digits.
class Perceptron : public Net {
 public:
  Perceptron(const Scope& scope, const NetOptions& o, const Data& data)
      : activation_(o.activation),
        hidden_(hidden_layers(scope, o, sizes_of(data.task).features)),
        head_(scope / "head", o.width, o.classes ? o.classes : sizes_of(data.task).classes) {}

  Tensor operator()(const Batch& batch, const Middle& middle, index_t step) const override {
    Tensor x(batch.x);
    index_t place = 0;
    for (const Hidden& layer : hidden_) {
      x = layer.linear(x);
      if (layer.norm) x = (*layer.norm)(x);
      x = layer.dropout(activated(x));
      x = passed(middle, x, place++, step);
    }
    return passed(middle, head_(x), kLogits, step);
  }

 private:
  struct Hidden {
    Linear linear;
    std::optional<BatchNorm> norm;
    Dropout dropout;
  };

  static std::vector<Hidden> hidden_layers(const Scope& scope, const NetOptions& o, index_t features) {
    std::vector<Hidden> out;
    for (index_t i = 0; i < o.layers; ++i) {
      const Scope here = scope / "layers" / i;
      Linear linear(here / "linear", i == 0 ? features : o.width, o.width,
                    {.weight_init = o.weight_init, .bias_init = o.bias_init});
      out.push_back({std::move(linear), {}, Dropout(here / "dropout", o.dropout)});
      if (o.batch_norm) out.back().norm.emplace(here / "norm", o.width, o.norm);
    }
    return out;
  }

  Tensor activated(const Tensor& x) const {
    switch (activation_) {
      case Activation::relu:
        return relu(x);
      case Activation::tanh:
        return xtape::tanh(x);
      case Activation::sigmoid:
        break;
    }
    return sigmoid(x);
  }

  Activation activation_;
  std::vector<Hidden> hidden_;
  Linear head_;
};

RecurrentStack stack_of(const Scope& scope, const NetOptions& o, index_t input) {
  if (o.architecture == Architecture::rnn)
    return RNN(scope, input, o.width, {.layers = o.layers, .nonlinearity = o.nonlinearity, .init = o.recurrent_init});
  if (o.architecture == Architecture::gru)
    return GRU(scope, input, o.width, {.layers = o.layers, .init = o.recurrent_init});
  return LSTM(scope, input, o.width, {.layers = o.layers, .forget_bias = o.forget_bias, .init = o.recurrent_init});
}

/// Ids [B, T] or vectors [B, T, I] -> logits or predictions at every step, by a recurrent layer or a loop over cells.
class Recurrent : public Net {
 public:
  Recurrent(const Scope& scope, const NetOptions& o, const Data& data) : architecture_(o.architecture) {
    const TaskSizes sizes = sizes_of(data.task);
    const index_t input = sizes.vocab ? o.width : sizes.features;
    if (sizes.vocab) embedding_.emplace(scope / "embedding", o.vocab ? o.vocab : sizes.vocab, o.width);
    if (!o.cells) stack_.emplace(stack_of(scope / "rnn", o, input));
    else if (architecture_ == Architecture::rnn)
      rnn_.emplace(scope / "rnn", input, o.width, RNNCellOptions{.init = o.recurrent_init});
    else if (architecture_ == Architecture::gru)
      gru_.emplace(scope / "rnn", input, o.width, GRUCellOptions{.init = o.recurrent_init});
    else
      lstm_.emplace(scope / "rnn", input, o.width,
                    LSTMCellOptions{.forget_bias = o.forget_bias, .init = o.recurrent_init});
    dropout_.emplace(scope / "dropout", o.dropout);
    head_.emplace(scope / "head", o.width, o.classes ? o.classes : sizes.classes ? sizes.classes : 1);
  }

  Tensor operator()(const Batch& batch, const Middle& middle, index_t step) const override {
    Tensor x = embedding_ ? (*embedding_)(batch.ids) : Tensor(batch.x);
    x = passed(middle, x, 0, step);
    x = passed(middle, stack_ ? (*stack_)(x).y : looped(x), 1, step);
    return passed(middle, (*head_)((*dropout_)(x)), kLogits, step);
  }

 private:
  Tensor looped(const Tensor& x) const {
    std::vector<Tensor> out;
    Tensor h;
    LstmStep state;
    for (index_t t = 0; t < x.size(1); ++t) {
      const Tensor now = squeeze(slice(x, 1, t, t + 1), {1});
      if (rnn_) h = (*rnn_)(now, h);
      if (gru_) h = (*gru_)(now, h);
      if (lstm_) h = (state = (*lstm_)(now, state)).h;
      out.push_back(h);
    }
    return stack(out, 1);
  }

  Architecture architecture_;
  std::optional<Embedding> embedding_;
  std::optional<RecurrentStack> stack_;
  std::optional<RNNCell> rnn_;
  std::optional<GRUCell> gru_;
  std::optional<LSTMCell> lstm_;
  std::optional<Dropout> dropout_;
  std::optional<Linear> head_;
};

class Decoder : public Net {
 public:
  Decoder(const Scope& scope, const NetOptions& o, const Data& data)
      : model_(scope, {.vocab = o.vocab ? o.vocab : sizes_of(data.task).vocab,
                       .context = data.time,
                       .width = o.width,
                       .heads = 2,
                       .layers = o.layers,
                       .attention = o.attention,
                       .dropout = o.dropout}) {}

  Tensor operator()(const Batch& batch, const Middle& middle, index_t step) const override {
    return passed(middle, model_(batch.ids), kLogits, step);
  }

 private:
  TransformerLM model_;
};

class Encoder : public Net {
 public:
  Encoder(const Scope& scope, const NetOptions& o, const Data& data)
      : model_(scope, {.vocab = o.vocab ? o.vocab : sizes_of(data.task).vocab,
                       .classes = o.classes ? o.classes : sizes_of(data.task).classes,
                       .context = data.time,
                       .width = o.width,
                       .heads = 2,
                       .layers = o.layers,
                       .attention = o.attention,
                       .dropout = o.dropout}) {}

  Tensor operator()(const Batch& batch, const Middle& middle, index_t step) const override {
    return passed(middle, model_(batch.ids), kLogits, step);
  }

 private:
  TransformerClassifier model_;
};

/// A network beside a layer that its loss does not use.
class WithUnused : public Net {
 public:
  WithUnused(std::unique_ptr<Net> net, const Scope& scope) : net_(std::move(net)), extra_(scope / "extra", 16, 16) {}

  Tensor operator()(const Batch& batch, const Middle& middle, index_t step) const override {
    return (*net_)(batch, middle, step);
  }

 private:
  std::unique_ptr<Net> net_;
  Linear extra_;
};

std::unique_ptr<Net> plain_net(const Scope& scope, const NetOptions& o, const Data& data) {
  switch (o.architecture) {
    case Architecture::perceptron:
      return std::make_unique<Perceptron>(scope, o, data);
    case Architecture::decoder:
      return std::make_unique<Decoder>(scope, o, data);
    case Architecture::encoder:
      return std::make_unique<Encoder>(scope, o, data);
    case Architecture::rnn:
    case Architecture::gru:
    case Architecture::lstm:
      break;
  }
  return std::make_unique<Recurrent>(scope, o, data);
}

}  // namespace

std::unique_ptr<Net> make_net(const Scope& scope, const NetOptions& options, const Data& data) {
  std::unique_ptr<Net> net = plain_net(scope, options, data);
  if (options.unused) net = std::make_unique<WithUnused>(std::move(net), scope);
  return net;
}

}  // namespace xtape::faults
