#include "layer_gradcheck.hpp"

#include <algorithm>

namespace xtape::test {

namespace {

constexpr double kStep = 1e-6;

/// Evaluates sum(upstream * layer(inputs)) repeatedly, with changed inputs and parameters.
class Probe {
 public:
  explicit Probe(const LayerCase& entry) : entry_(entry), inputs_(entry.inputs) {
    ParamStore store(7);
    entry.build(store.root());
    for (const Parameter& p : store.parameters()) {
      names_.push_back(p.name());
      parameters_.push_back(sample(p.shape(), 1000 + parameters_.size(), -0.6, 0.6));
    }
  }

  std::size_t input_count() const { return inputs_.size(); }
  std::size_t count() const { return inputs_.size() + parameters_.size(); }
  Array& at(std::size_t i) { return i < inputs_.size() ? inputs_[i] : parameters_[i - inputs_.size()]; }
  std::string name(std::size_t i) const {
    return i < inputs_.size() ? "input " + std::to_string(i) : names_[i - inputs_.size()];
  }

  Tensor loss(ParamStore& store, const std::vector<Tensor>& tensors) {
    const TensorFunction layer = entry_.build(store.root());
    for (std::size_t i = 0; i < names_.size(); ++i) store.parameter(names_[i]).set_value(parameters_[i]);
    const Tensor y = layer(tensors);
    return sum(y * Tensor(sample(y.shape(), 1)));
  }

  double value() {
    ParamStore store(7);
    return static_cast<double>(loss(store, {inputs_.begin(), inputs_.end()}).item());
  }

  double difference(std::size_t i, std::size_t element) {
    real& x = at(i).data()[element];
    const real here = x;
    x = static_cast<real>(static_cast<double>(here) + kStep);
    const double above = value();
    x = static_cast<real>(static_cast<double>(here) - kStep);
    const double below = value();
    x = here;
    return (above - below) / (2 * kStep);
  }

  /// Gradients of inputs and parameters, by the tape.
  std::vector<Array> gradients() {
    ParamStore store(7);
    Tape tape;
    std::vector<Tensor> tensors;
    for (const Array& input : inputs_) tensors.push_back(tape.variable(input));
    tape.backward(loss(store, tensors));
    std::vector<Array> out;
    for (const Tensor& tensor : tensors) out.push_back(tape.grad(tensor));
    for (const std::string& parameter : names_) out.push_back(store.parameter(parameter).grad());
    return out;
  }

 private:
  const LayerCase& entry_;
  std::vector<Array> inputs_;
  std::vector<std::string> names_;
  std::vector<Array> parameters_;
};

}  // namespace

GradCheckResult layer_gradcheck(const LayerCase& entry) {
  Probe probe(entry);
  const std::vector<Array> gradients = probe.gradients();
  GradCheckResult result;
  for (std::size_t i = 0; i < probe.count(); ++i) {
    for (std::size_t j = 0; j < probe.at(i).size(); ++j) {
      const double exact = static_cast<double>(gradients[i].data()[j]), difference = probe.difference(i, j);
      const double error = std::abs(exact - difference) / std::max({1.0, std::abs(exact), std::abs(difference)});
      if (error <= result.worst) continue;
      result.worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      result.where = probe.name(i) + " element " + std::to_string(j) + ": tape " + std::to_string(exact) +
                     ", difference " + std::to_string(difference);
    }
  }
  return result;
}

}  // namespace xtape::test
