#include <xtape/core/error.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/core/random.hpp>
#include <xtape/inspect/measure/gradcheck.hpp>

#include <algorithm>
#include <cmath>

namespace xtape::inline XTAPE_DTYPE {

namespace {

/// The weighted sum of the function's value, in double.
class Differences {
 public:
  Differences(const TensorFunction& function, const std::vector<Array>& inputs, const GradCheckOptions& options)
      : function_(function), inputs_(inputs), options_(options) {}

  /// sum(upstream * f) (+ sum(second * f) when used twice), recorded if inputs are tracked.
  Tensor loss(const std::vector<Tensor>& tensors) {
    std::vector<Tensor> outputs = {function_(arguments(tensors))};
    if (options_.twice) outputs.push_back(function_(arguments(tensors)));
    std::vector<Array> weights;
    Array total = empty_array({});
    total() = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      weights.push_back(sample(outputs[i].shape(), options_.seed + i));
      double sum = 0;
      for (std::size_t j = 0; j < weights[i].size(); ++j)
        sum += static_cast<double>(weights[i].data()[j]) * static_cast<double>(outputs[i].data()[j]);
      total() += static_cast<real>(sum);
    }
    const std::vector<Operand> operands(outputs.begin(), outputs.end());
    return Tape::record("weighted_sum", std::span<const Operand>(operands), Tensor(total),
                        [weights](const Array& dy, Grads& g) {
                          for (std::size_t i = 0; i < weights.size(); ++i) g.add(i, weights[i], dy());
                        });
  }

  double at(std::size_t input, std::size_t element, double shift) {
    std::vector<Array> moved = inputs_;
    real& x = moved[input].data()[element];
    x = static_cast<real>(static_cast<double>(x) + shift);
    const std::vector<Tensor> tensors(moved.begin(), moved.end());
    return static_cast<double>(loss(tensors).item());
  }

  bool constant(std::size_t input) const {
    return (input < options_.constant.size() && options_.constant[input]) || (shared(input) && input > 0);
  }

 private:
  bool shared(std::size_t input) const { return options_.share && inputs_[input].shape() == inputs_[0].shape(); }

  std::vector<Tensor> arguments(const std::vector<Tensor>& tensors) const {
    std::vector<Tensor> out = tensors;
    for (std::size_t i = 1; i < out.size(); ++i)
      if (shared(i)) out[i] = out[0];
    return out;
  }

  const TensorFunction& function_;
  const std::vector<Array>& inputs_;
  const GradCheckOptions& options_;
};

}  // namespace

Array sample(const Shape& shape, std::uint64_t seed, double low, double high) {
  Array out = empty_array(shape);
  Random random(seed, "gradcheck");
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<real>(random.uniform(low, high));
  return out;
}

GradCheckResult gradcheck(const TensorFunction& function, const std::vector<Array>& inputs,
                          const GradCheckOptions& options) {
  Differences probe(function, inputs, options);
  Tape tape;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    tensors.push_back(probe.constant(i) ? Tensor(inputs[i]) : tape.variable(inputs[i]));
  tape.backward(probe.loss(tensors));
  GradCheckResult result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (probe.constant(i)) continue;
    const Array got = tape.grad(tensors[i]);
    for (std::size_t j = 0; j < got.size(); ++j) {
      const double exact = static_cast<double>(got.data()[j]);
      const double difference = (probe.at(i, j, options.step) - probe.at(i, j, -options.step)) / (2 * options.step);
      const double error = std::abs(exact - difference) / std::max({1.0, std::abs(exact), std::abs(difference)});
      if (error > result.worst || std::isnan(error)) {
        result.worst = error;
        result.where = "input " + std::to_string(i) + " element " + std::to_string(j) + ": tape " + number_text(exact) +
                       ", difference " + number_text(difference);
        if (std::isnan(error)) return result;
      }
    }
  }
  return result;
}

}  // namespace xtape::inline XTAPE_DTYPE
