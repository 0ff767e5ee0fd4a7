// Recurrent layers and cells against golden values, with parameters named as in PyTorch.
#include "tables.hpp"

#include <xtape/core/ops/concat.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/nn/gru.hpp>
#include <xtape/nn/lstm.hpp>
#include <xtape/nn/rnn.hpp>

namespace xtape::test {

namespace {

constexpr index_t kInput = 4, kHidden = 3;

/// Splits PyTorch's array [L D, B, H] of all states into one tensor per layer and direction.
std::vector<Tensor> apart(const Tensor& states) {
  std::vector<Tensor> out;
  for (index_t i = 0; i < states.size(0); ++i)
    out.push_back(reshape(slice(states, 0, i, i + 1), {states.size(1), states.size(2)}));
  return out;
}

struct Run {
  bool initial = false;
  bool lengths = false;

  std::vector<Tensor> state(Golden& g, const char* name) const {
    return initial ? apart(g.in(name)) : std::vector<Tensor>();
  }
  IndexArray lengths_of(const Golden& g) const { return lengths ? g.integers("lengths") : IndexArray(); }
};

template <class Layer, class Options>
GoldenCase hidden_layer(const std::string& name, const Options& options, Run run) {
  return {name, [=](Golden& g) {
            Layer layer(g.scope(), kInput, kHidden, options);
            const auto out = g.loaded(layer)(g.in("x"), {run.state(g, "h0")}, run.lengths_of(g));
            return Outputs({out.y, stack(out.state.h, 0)});
          }};
}

GoldenCase lstm_layer(const std::string& name, const LSTMOptions& options, Run run) {
  return {name, [=](Golden& g) {
            LSTM layer(g.scope(), kInput, kHidden, options);
            const auto out = g.loaded(layer)(g.in("x"), {run.state(g, "h0"), run.state(g, "c0")}, run.lengths_of(g));
            return Outputs({out.y, stack(out.state.h, 0), stack(out.state.c, 0)});
          }};
}

/// The variants of every kind of layer.
template <class Options, class Maker>
GoldenTable variants(const std::string& kind, const Maker& make) {
  return {
      make(kind + "/one layer", Options{}, Run{}),
      make(kind + "/initial state", Options{}, Run{.initial = true}),
      make(kind + "/two layers", Options{.layers = 2}, Run{.initial = true}),
      make(kind + "/bidirectional", Options{.bidirectional = true}, Run{.initial = true}),
      make(kind + "/lengths", Options{}, Run{.lengths = true}),
      make(kind + "/two layers, bidirectional, lengths", Options{.layers = 2, .bidirectional = true},
           Run{.initial = true, .lengths = true}),
      make(kind + "/no bias", Options{.bias = false}, Run{}),
  };
}

/// Forms that PyTorch does not have.
GoldenTable other_forms() {
  const Run run = {.initial = true, .lengths = true};
  GoldenTable table = {
      hidden_layer<RNN>("RNN/relu", RNNOptions{.nonlinearity = Nonlinearity::relu}, {}),
      hidden_layer<GRU>("GRU/reset before, two layers", GRUOptions{.layers = 2, .reset = GruReset::before}, run),
  };
  const std::pair<const char*, RNNOptions> forms[] = {
      {"tanh outside", {.layers = 2, .place = NonlinearityPlace::outside}},
      {"relu inside", {.layers = 2, .nonlinearity = Nonlinearity::relu}},
      {"relu outside", {.layers = 2, .nonlinearity = Nonlinearity::relu, .place = NonlinearityPlace::outside}},
      {"sigmoid inside", {.layers = 2, .nonlinearity = Nonlinearity::sigmoid}},
      {"sigmoid outside", {.layers = 2, .nonlinearity = Nonlinearity::sigmoid, .place = NonlinearityPlace::outside}},
  };
  for (const auto& [title, options] : forms)
    table.push_back(hidden_layer<RNN>(std::string("RNN/") + title + ", two layers", options, run));
  return table;
}

GoldenTable cells() {
  const auto rnn = [](const char* name, const RNNCellOptions& options) {
    return GoldenCase{name, [=](Golden& g) {
                        RNNCell cell(g.scope(), kInput, kHidden, options);
                        return g.loaded(cell)(g.in("x"), g.in("h"));
                      }};
  };
  return {
      rnn("RNNCell/tanh", {}),
      rnn("RNNCell/relu", {.nonlinearity = Nonlinearity::relu}),
      {"GRUCell/reset after",
       [](Golden& g) {
         GRUCell cell(g.scope(), kInput, kHidden);
         return g.loaded(cell)(g.in("x"), g.in("h"));
       }},
      {"LSTMCell/plain",
       [](Golden& g) {
         LSTMCell cell(g.scope(), kInput, kHidden);
         const LstmStep next = g.loaded(cell)(g.in("x"), {g.in("h"), g.in("c")});
         return Outputs({next.h, next.c});
       }},
  };
}

}  // namespace

GoldenTable recurrent_layer_golden_cases() {
  return joined({variants<RNNOptions>("RNN", hidden_layer<RNN, RNNOptions>),
                 variants<GRUOptions>("GRU", hidden_layer<GRU, GRUOptions>), variants<LSTMOptions>("LSTM", lstm_layer),
                 other_forms(), cells()});
}

TEST_CASE("recurrent layers agree with golden values") { check_golden(recurrent_layer_golden_cases()); }

}  // namespace xtape::test
