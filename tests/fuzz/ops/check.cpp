#include "check.hpp"

#include "fuzz/fuzz.hpp"

#include <xtape/core/error.hpp>
#include <xtape/core/ops/reduce.hpp>

#include <cmath>

namespace xtape::fuzz {

namespace {

Tried everything;

void note(const std::string& name) { everything.functions.insert(name.substr(0, name.find(' '))); }

std::string text_of(const Dimensions& shape) { return shape_text(shape); }

bool near(double got, double want) {
  return got == want || (std::isnan(got) && std::isnan(want)) || std::abs(got - want) <= 1e-9 * (1 + std::abs(want));
}

void compare(const std::string& name, const Plain& got, const Plain& want) {
  if (got.shape != want.shape) fault(name + ": got shape " + text_of(got.shape) + ", want " + text_of(want.shape));
  for (std::size_t i = 0; i < got.values.size(); ++i)
    if (!near(got.values[i], want.values[i]))
      fault(name + ": element " + std::to_string(i) + " is " + std::to_string(got.values[i]) + ", want " +
            std::to_string(want.values[i]));
}

}  // namespace

Shape shape_of(const Dimensions& shape) { return Shape(shape.begin(), shape.end()); }

Array array_of(const Plain& x) {
  Array out = empty_array(shape_of(x.shape));
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = x.values[i];
  return out;
}

IndexArray indices_of(const Plain& x) {
  IndexArray out = empty_array<IndexArray>(shape_of(x.shape));
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<index_t>(x.values[i]);
  return out;
}

Mask mask_of(const Plain& x) {
  Mask out = empty_array<Mask>(shape_of(x.shape));
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = x.values[i] > 0;
  return out;
}

void check_plain(const std::string& name, const std::function<Plain()>& op, const std::optional<Plain>& want) {
  std::optional<Plain> got;
  std::string refusal;
  try {
    got = op();
  } catch (const Error& error) {
    refusal = error.what();
  }
  if (want && !got) fault(name + ": refused valid operands: " + refusal);
  if (!want && got) fault(name + ": gave shape " + text_of(got->shape) + " for invalid operands");
  if (!want) return;
  compare(name, *got, *want);
  note(name);
}

void check(const std::string& name, const std::vector<Plain>& operands, const TensorOp& op,
           const std::optional<Plain>& want) {
  std::string described = name;
  for (const Plain& operand : operands) described += " " + text_of(operand.shape);
  const auto constants = [&] {
    std::vector<Tensor> out;
    for (const Plain& operand : operands) out.emplace_back(array_of(operand));
    return out;
  };
  check_plain(described, [&] { return plain_of(op(constants()).value()); }, want);
  if (!want) return;
  Tape tape;
  std::vector<Tensor> variables;
  for (const Plain& operand : operands) variables.push_back(tape.variable(array_of(operand)));
  const Tensor y = op(variables);
  compare(described + " on a tape", plain_of(y.value()), *want);
  for (const char* recorded : tape.ops()) everything.recorded.insert(recorded);
  if (!y.tracked()) return;
  tape.backward(sum(y));
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Array gradient = tape.grad(variables[i]);
    if (gradient.shape() != variables[i].shape()) fault(described + ": a gradient has another shape");
  }
}

const Tried& tried() { return everything; }

}  // namespace xtape::fuzz
