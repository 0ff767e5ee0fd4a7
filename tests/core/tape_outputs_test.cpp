// Ops with several outputs, and step gradients, on the tape itself.
#include "support.hpp"

#include <array>
#include <vector>

using namespace xtape;
using namespace xtape::test;

namespace {

/// Computes (2x, 3x) as one op. `seen` records which outputs got a gradient.
std::array<Tensor, 2> double_and_triple(const Tensor& x, std::vector<int>& seen) {
  Array a = x.value() * real(2), b = x.value() * real(3);
  std::array<Tensor, 2> out = {Tensor(a), Tensor(b)};
  Tape::record("double_and_triple", {x}, std::span<Tensor>(out), [&seen](Grads& g) {
    for (std::size_t i = 0; i < 2; ++i) {
      const Array* upstream = g.upstream(i);
      if (!upstream) continue;
      seen.push_back(static_cast<int>(i));
      g.add(0, *upstream, i == 0 ? real(2) : real(3));
    }
  });
  return out;
}

}  // namespace

TEST_CASE("an op with several outputs gets the complete gradient of each") {
  std::vector<int> seen;
  Tape tape;
  const Tensor x = tape.variable(row({1, -2}));
  auto [a, b] = double_and_triple(x, seen);
  check_equal(a.value(), row({2, -4}));
  check_equal(b.value(), row({3, -6}));
  tape.watch(a, "a");
  tape.watch(b, "b");
  tape.backward(sum(a * b));  // 6 x^2
  check_near(tape.grad(x), row({12, -24}));
  CHECK(seen == std::vector<int>{0, 1});
  REQUIRE(tape.grad_norms().size() == 2);
  CHECK(tape.grad_norms()[0].name == "b");
  check_near(tape.grad_norms()[0].norm, std::sqrt(20.0));
  CHECK(tape.grad_norms()[1].stream.empty());
  CHECK(tape.nodes() == 0);
}

TEST_CASE("an output that is not used has no upstream gradient") {
  std::vector<int> seen;
  Tape tape;
  const Tensor x = tape.variable(row({1, -2}));
  auto [a, b] = double_and_triple(x, seen);
  tape.backward(sum(b));
  check_equal(tape.grad(x), row({3, 3}));
  CHECK(seen == std::vector<int>{1});
}

TEST_CASE("the backward function does not run if no output gets a gradient") {
  std::vector<int> seen;
  Tape tape;
  const Tensor x = tape.variable(row({1, -2}));
  double_and_triple(x, seen);
  tape.backward(sum(x));
  check_equal(tape.grad(x), row({1, 1}));
  CHECK(seen.empty());
}

TEST_CASE("a tape that keeps its backward functions runs an op with several outputs again") {
  std::vector<int> seen;
  Tape tape({.retain_graph = true});
  const Tensor x = tape.variable(row({1, -2}));
  auto [a, b] = double_and_triple(x, seen);
  tape.backward(a, row({1, 0}));
  check_equal(tape.grad(x), row({2, 0}));
  tape.backward(b, row({0, 1}));
  check_equal(tape.grad(x), row({0, 3}));
  CHECK(seen == std::vector<int>{0, 1});
}

TEST_CASE("without a tape, or without a tracked input, outputs are constants") {
  std::vector<int> seen;
  auto [a, b] = double_and_triple(Tensor(row({1})), seen);
  CHECK_FALSE(a.tracked());
  Tape tape;
  auto [c, d] = double_and_triple(Tensor(row({1})), seen);
  CHECK_FALSE(d.tracked());
  CHECK(tape.nodes() == 0);
}

TEST_CASE("an output is not a variable: its gradient is not kept") {
  std::vector<int> seen;
  Tape tape;
  const Tensor x = tape.variable(row({1, -2}));
  auto [a, b] = double_and_triple(x, seen);
  tape.backward(sum(a));
  check_throws<TapeError>([&, output = a] { tape.grad(output); }, "only variables keep their gradient");
}

TEST_CASE("an empty step callback is refused") {
  Tape tape;
  check_throws<ValueError>([&] { tape.on_step_grad({}); }, "[on_step_grad] the callback is empty");
}
