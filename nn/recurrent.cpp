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
    shape[0] /= gates;
    for (index_t gate = 0; gate < gates; ++gate) {
      Array block = empty_array(shape);
      each(block, random);
      if (filled && gate == 1) std::fill(block.begin(), block.end(), static_cast<real>(*filled));
      std::copy(block.begin(), block.end(), value.begin() + gate * numel(block));
    }
  };
}

std::string layer_suffix(index_t layer, bool reverse) {
  return "_l" + std::to_string(layer) + (reverse ? "_reverse" : "");
}

std::vector<Tensor> detached(const std::vector<Tensor>& states) {
  std::vector<Tensor> out;
  for (const Tensor& state : states) out.push_back(state.detach());
  return out;
}

}  // namespace

RecurrentState RecurrentState::detach() const { return {detached(h), detached(c)}; }

RecurrentParameters::RecurrentParameters(const Scope& scope, const std::string& suffix, const Options& o) {
  if (o.input < 1 || o.hidden < 1)
    throw ValueError("recurrent " + scope.name(), "sizes of at least 1", o.input, o.hidden);
  if (o.forget_bias && (!o.bias || !std::isfinite(*o.forget_bias)))
    throw ValueError("recurrent " + scope.name(), "a finite forget bias and bias = true", *o.forget_bias,
                     o.bias ? "true" : "false");
  layer = scope.name_or("cell");
  const index_t rows = o.gates * o.hidden;
  const Init usual = init::uniform_fan_in(o.hidden);
  const auto given = [&usual](const Init& init) { return init ? init : usual; };
  weight_ih = scope.parameter("weight_ih" + suffix, {rows, o.input}, by_gate(o.gates, given(o.init.input)));
  weight_hh = scope.parameter("weight_hh" + suffix, {rows, o.hidden}, by_gate(o.gates, given(o.init.recurrent)));
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

RecurrentStack::RecurrentStack(const Scope& scope, const Options& o, RecurrentParameters::Options layer, Op op)
    : options_(o), scope_(scope), op_(std::move(op)), masks_(scope.random_keys()) {
  if (o.layers < 1) throw ValueError(o.name + (" " + scope.name()), "at least 1 layer", o.layers);
  check_probability(o.name, o.dropout);
  for (index_t i = 0; i < o.layers; ++i) {
    parameters_.emplace_back(scope, layer_suffix(i, false), layer);
    if (o.bidirectional) parameters_.emplace_back(scope, layer_suffix(i, true), layer);
    layer.input = (o.bidirectional ? 2 : 1) * layer.hidden;
  }
}

RecurrentOutput RecurrentStack::operator()(const Tensor& x, const RecurrentState& state,
                                           const IndexArray& lengths) const {
  check(state);
  const auto state_at = [](const std::vector<Tensor>& states, std::size_t i) {
    return states.empty() ? Tensor() : states[i];
  };
  const std::string prefix = scope_.name_or(options_.name);
  RecurrentOutput out{.y = x, .state = {}};
  std::size_t index = 0;
  for (index_t layer = 0; layer < options_.layers; ++layer) {
    if (layer > 0 && options_.dropout > 0 && scope_.training()) out.y = dropout(out.y, options_.dropout, masks_.next());
    std::vector<Tensor> outputs;
    for (const bool reverse : {false, true}) {
      if (reverse && !options_.bidirectional) continue;
      const std::string name = prefix + layer_suffix(layer, reverse);
      const LayerScope here(name);
      here.input(out.y);
      const RecurrentSequence s =
          op_(out.y, state_at(state.h, index), state_at(state.c, index), parameters_[index].weights(),
              {.lengths = lengths, .reverse = reverse, .name = name});
      outputs.push_back(here.output(s.y));
      out.state.h.push_back(s.h);
      if (options_.cells) out.state.c.push_back(s.c);
      ++index;
    }
    out.y = options_.bidirectional ? concat(outputs, 2) : outputs[0];
  }
  return out;
}

void RecurrentStack::check(const RecurrentState& state) const {
  if (!options_.cells && !state.c.empty())
    throw ShapeError(options_.name, "a state without c, which only lstm cells have", state.c.size());
  for (const std::vector<Tensor>* states : {&state.h, &state.c})
    if (!states->empty() && states->size() != parameters_.size())
      throw ShapeError(options_.name,
                       "a state of a tensor for each layer and direction, " + std::to_string(parameters_.size()),
                       states->size());
}

}  // namespace xtape::inline XTAPE_DTYPE
