#include <xtape/core/error.hpp>
#include <xtape/core/ops/concat.hpp>
#include <xtape/core/ops/dropout.hpp>
#include <xtape/core/ops/shape.hpp>
#include <xtape/nn/init.hpp>
#include <xtape/nn/recurrent.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// Applies `each` to every block of `gates` blocks along the first axis. If `filled` has a value, the second block is
/// filled with it instead.
Init by_gate(index_t gates, const Init& each, std::optional<double> filled = {}) {
  return [=](Array& value, Random& random) {
    Shape shape = value.shape();
    shape[0] = value.shape()[0] / static_cast<std::size_t>(gates);
    for (index_t gate = 0; gate < gates; ++gate) {
      Array block(shape);
      each(block, random);
      if (filled && gate == 1) std::fill(block.begin(), block.end(), static_cast<real>(*filled));
      std::copy(block.begin(), block.end(), value.begin() + gate * static_cast<index_t>(block.size()));
    }
  };
}

std::string layer_suffix(index_t layer, bool reverse) {
  return "_l" + std::to_string(layer) + (reverse ? "_reverse" : "");
}

}  // namespace

std::vector<Tensor> detached(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (const Tensor& tensor : tensors) out.push_back(tensor.detach());
  return out;
}

RNNState RNNState::detach() const { return {detached(h)}; }

RecurrentParameters::RecurrentParameters(const Scope& scope, const std::string& suffix, const Options& o) {
  if (o.input < 1 || o.hidden < 1)
    throw ValueError("recurrent " + scope.name(), "sizes of at least 1", o.input, o.hidden);
  if (o.forget_bias && (!o.bias || !std::isfinite(*o.forget_bias)))
    throw ValueError("recurrent " + scope.name(), "a finite forget bias and bias = true", *o.forget_bias,
                     o.bias ? "true" : "false");
  layer = scope.name_or("cell");
  const auto rows = static_cast<std::size_t>(o.gates * o.hidden), inputs = static_cast<std::size_t>(o.input);
  const Init usual = init::uniform_fan_in(o.hidden);
  const auto given = [&usual](const Init& init) { return init ? init : usual; };
  weight_ih = scope.parameter("weight_ih" + suffix, {rows, inputs}, by_gate(o.gates, given(o.init.input)));
  weight_hh = scope.parameter("weight_hh" + suffix, {rows, static_cast<std::size_t>(o.hidden)},
                              by_gate(o.gates, given(o.init.recurrent)));
  if (!o.bias) return;
  const auto rest = o.forget_bias ? std::optional<double>(0) : std::nullopt;
  bias_ih = scope.parameter("bias_ih" + suffix, {rows}, by_gate(o.gates, given(o.init.bias), o.forget_bias));
  bias_hh = scope.parameter("bias_hh" + suffix, {rows}, by_gate(o.gates, given(o.init.bias), rest));
}

RecurrentWeights RecurrentParameters::weights() const {
  RecurrentWeights out = {weight_ih, weight_hh};
  if (bias_ih.defined()) out.bias_ih = bias_ih;
  if (bias_hh.defined()) out.bias_hh = bias_hh;
  return out;
}

RecurrentStack::RecurrentStack(const Scope& scope, const Options& o)
    : op_(o.op),
      scope_(scope),
      layers_(o.layers),
      directions_(o.bidirectional ? 2 : 1),
      dropout_(o.dropout),
      masks_(scope.random_keys()) {
  if (layers_ < 1) throw ValueError(op_ + (" " + scope.name()), "at least 1 layer", layers_);
  check_probability(op_, dropout_);
  for (index_t layer = 0; layer < layers_; ++layer)
    for (index_t direction = 0; direction < directions_; ++direction)
      parameters_.emplace_back(scope, layer_suffix(layer, direction == 1),
                               RecurrentParameters::Options{.gates = o.gates,
                                                            .input = layer == 0 ? o.input : directions_ * o.hidden,
                                                            .hidden = o.hidden,
                                                            .bias = o.bias,
                                                            .init = o.init,
                                                            .forget_bias = o.forget_bias});
}

Tensor RecurrentStack::operator()(Tensor x, const IndexArray& lengths, const Run& run) const {
  const std::string prefix = scope_.name_or(op_);
  std::size_t index = 0;
  for (index_t layer = 0; layer < layers_; ++layer) {
    if (layer > 0 && dropout_ > 0 && scope_.training()) x = dropout(x, dropout_, masks_.next());
    std::vector<Tensor> outputs;
    for (index_t direction = 0; direction < directions_; ++direction, ++index) {
      const bool reverse = direction == 1;
      const std::string name = prefix + layer_suffix(layer, reverse);
      const LayerScope here(name);
      outputs.push_back(here.output(
          run(x, index, parameters_[index].weights(), {.lengths = lengths, .reverse = reverse, .name = name})));
    }
    x = directions_ == 1 ? outputs[0] : concat(outputs, 2);
  }
  return x;
}

void RecurrentStack::check_states(const std::vector<Tensor>& states) const {
  if (!states.empty() && states.size() != parameters_.size())
    throw ShapeError(op_, "a state of a tensor for each layer and direction, " + std::to_string(parameters_.size()),
                     states.size());
}

}  // namespace xtape::inline XTAPE_DTYPE
