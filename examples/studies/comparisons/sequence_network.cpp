#include "sequence_network.hpp"

#include <algorithm>

namespace xtape::examples {

namespace {

constexpr index_t kHeads = 4;
constexpr double kLargeGain = 3;

CellKind cell_of(const std::string& architecture) {
  return parse_cell_kind(architecture.starts_with("lstm") ? "lstm" : architecture);
}

std::optional<double> forget_bias_of(const std::string& architecture) {
  if (architecture == "lstm-0") return 0;
  if (architecture == "lstm-1") return 1;
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> names = {"rnn", "gru", "lstm-0", "lstm-1", "transformer"};
  return names;
}

const std::vector<std::string>& init_names() {
  static const std::vector<std::string> names = {"default", "xavier", "he", "orthogonal", "large"};
  return names;
}

Init init_of(const std::string& name) {
  if (name == "default") return {};
  if (name == "xavier") return init::xavier_uniform();
  if (name == "he") return init::he_normal();
  if (name == "orthogonal") return init::orthogonal();
  if (name == "large") return init::he_normal(kLargeGain);
  throw ValueError("sequence_network", "there is no initialization '" + name + "'");
}

SequenceNetwork::Middle SequenceNetwork::middle_of(const Scope& scope, const SequenceNetworkConfig& c) {
  const Init weights = init_of(c.init);
  if (c.architecture == "transformer") {
    Transformer out{sinusoidal_positions(c.steps, c.width), {}, LayerNorm(scope / "norm", c.width)};
    for (index_t i = 0; i < c.layers; ++i)
      out.blocks.emplace_back(scope / "layers" / i,
                              TransformerBlockOptions{.width = c.width, .heads = kHeads, .weight_init = weights});
    return out;
  }
  const RecurrentInit init = {.input = weights, .recurrent = weights};
  const std::optional<double> forget_bias = forget_bias_of(c.architecture);
  if (c.layer_norm) {
    if (c.layers != 1) throw ValueError("sequence_network", "with layer norms there is one recurrent layer");
    return Middle(std::in_place_type<LayerNormRecurrent>, scope, c.width, c.width,
                  LayerNormRecurrentOptions{cell_of(c.architecture), init, forget_bias});
  }
  switch (cell_of(c.architecture)) {
    case CellKind::rnn:
      return Middle(std::in_place_type<RNN>, scope, c.width, c.width, RNNOptions{.layers = c.layers, .init = init});
    case CellKind::gru:
      return Middle(std::in_place_type<GRU>, scope, c.width, c.width, GRUOptions{.layers = c.layers, .init = init});
    case CellKind::lstm:
      break;
  }
  return Middle(std::in_place_type<LSTM>, scope, c.width, c.width,
                LSTMOptions{.layers = c.layers, .forget_bias = forget_bias, .init = init});
}

SequenceNetwork::SequenceNetwork(const Scope& scope, const SequenceNetworkConfig& c)
    : middle_(middle_of(scope / "middle", c)), head_(scope / "head", c.width, c.outputs) {
  if (c.vocab > 0) embedding_.emplace(scope / "embedding", c.vocab, c.width);
  else input_.emplace(scope / "input", c.inputs, c.width);
}

Tensor SequenceNetwork::embed(const IndexArray& ids) const {
  if (!embedding_) throw ValueError("sequence_network", "the input is numbers, not symbols");
  return (*embedding_)(ids);
}

Tensor SequenceNetwork::embed(const Tensor& values) const {
  if (!input_) throw ValueError("sequence_network", "the input is symbols, not numbers");
  return (*input_)(values);
}

Tensor SequenceNetwork::operator()(const Tensor& embedded) const {
  struct Run {
    const Tensor& x;
    Tensor operator()(const RNN& rnn) const { return rnn(x).y; }
    Tensor operator()(const GRU& gru) const { return gru(x).y; }
    Tensor operator()(const LSTM& lstm) const { return lstm(x).y; }
    Tensor operator()(const LayerNormRecurrent& recurrent) const { return recurrent(x); }
    Tensor operator()(const Transformer& transformer) const {
      Tensor y = x + slice(Tensor(transformer.positions), 0, 0, x.size(1));
      for (const TransformerBlock& block : transformer.blocks) y = block(y, {.causal = true});
      return transformer.norm(y);
    }
  };
  return head_(std::visit(Run{embedded}, middle_));
}

const Parameter* SequenceNetwork::vanilla_recurrent() const {
  const RNN* const rnn = std::get_if<RNN>(&middle_);
  return rnn ? &rnn->parameters().front().weight_hh : nullptr;
}

}  // namespace xtape::examples
