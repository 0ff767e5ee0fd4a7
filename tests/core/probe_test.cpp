// watch and on_grad: the gradients that observers get, when, and how often.
#include "support.hpp"

#include <string>
#include <vector>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("on_grad gets the complete gradient of an inner tensor, once") {
  Tape tape;
  const Tensor x = tape.variable(row({1, 2}));
  const Tensor y = x * real(3);
  const Tensor first = y * y, second = y * real(5);  // two uses of y
  int calls = 0;
  tape.on_grad(y, [&](const Array& grad) {
    ++calls;
    check_equal(grad, row({2 * 3 + 5, 2 * 6 + 5}));
  });
  tape.backward(sum(first + second));
  CHECK(calls == 1);
  check_equal(tape.grad(x), row({33, 51}));
}

TEST_CASE("on_grad of a parameter is called after all its uses, with the gradients of earlier tapes included") {
  const Parameter w("w", row({1, 2}));
  {
    Tape tape;
    tape.backward(sum(w * real(100)));
  }
  Tape tape;
  const Tensor loss = sum(w * w) + sum(w * real(3));
  int calls = 0;
  tape.on_grad(w, [&](const Array& grad) {
    ++calls;
    check_equal(grad, row({105, 107}));
  });
  tape.backward(loss);
  CHECK(calls == 1);
}

TEST_CASE("observers are called in the order in which gradients are completed, last tensor first") {
  const Parameter w("w", row({3, 4}));
  Tape tape;
  const Tensor leaf = w, a = leaf * real(2), b = a * real(2), loss = sum(b);
  std::vector<std::string> order;
  for (const auto& [name, tensor] :
       std::vector<std::pair<std::string, Tensor>>{{"w", leaf}, {"a", a}, {"loss", loss}, {"b", b}})
    tape.on_grad(tensor, [&order, name = name](const Array&) { order.push_back(name); });
  tape.on_grad(b, [&](const Array&) { order.push_back("b again"); });
  tape.backward(loss);
  CHECK(order == std::vector<std::string>{"loss", "b", "b again", "a", "w"});
}

TEST_CASE("watch records the norm, the name and the time step") {
  Tape tape;
  const Tensor x = tape.variable(row({3, 4}));
  const Tensor h1 = x * real(1), h2 = h1 * real(2);
  tape.watch(h1, "h", 1);
  tape.watch(h2, "h", 2);
  tape.watch(x, "x");
  CHECK(tape.grad_norms().empty());
  tape.backward(sum(h2 * h2));  // 4 x^2: dh2 = 2 h2 = (12, 16)
  REQUIRE(tape.grad_norms().size() == 3);
  CHECK(tape.grad_norms()[0].name == "h");
  CHECK(tape.grad_norms()[0].time == 2);
  check_near(tape.grad_norms()[0].norm, 20);
  CHECK(tape.grad_norms()[1].time == 1);
  check_near(tape.grad_norms()[1].norm, 40);
  CHECK(tape.grad_norms()[2].name == "x");
  CHECK(tape.grad_norms()[2].time == -1);
  check_near(tape.grad_norms()[2].norm, 40);
}

TEST_CASE("the norm of gradients that overflow when squared is correct") {
  Tape tape;
  const Tensor x = tape.variable(row({1, 1}));
  tape.watch(x, "x");
  tape.backward(x, row({3e30, 4e30}));
  check_near(tape.grad_norms()[0].norm, 5e30, {tolerance(1e-9, 1e-6), 0});
}

TEST_CASE("an observer of a tensor that gets no gradient is not called") {
  Parameter w("w", row({1, 2})), unused("unused", row({1, 2}));
  Tape tape;
  const Tensor loss = sum(w * w);
  const Tensor aside = sum(unused * w);
  int calls = 0;
  tape.on_grad(unused, [&](const Array&) { ++calls; });
  tape.on_grad(aside, [&](const Array&) { ++calls; });
  tape.watch(unused, "unused");
  SUBCASE("without any gradient") {}
  SUBCASE("with a gradient of an earlier tape") { unused.set_grad(row({7, 7})); }
  tape.backward(loss);
  CHECK(calls == 0);
  CHECK(tape.grad_norms().empty());
}

TEST_CASE("if the tape keeps its backward functions, observers are called in every pass") {
  Tape tape({.retain_graph = true});
  const Tensor x = tape.variable(row({1, 2}));
  const Tensor y = x * x;
  tape.watch(y, "y");
  std::vector<double> seen;
  tape.on_grad(x, [&](const Array& grad) { seen.push_back(static_cast<double>(grad(0))); });
  tape.backward(y, row({1, 0}));
  tape.backward(y, row({10, 0}));
  CHECK(seen == std::vector<double>{2, 20});
  REQUIRE(tape.grad_norms().size() == 2);
  check_near(tape.grad_norms()[1].norm, 10);
}

TEST_CASE("a callback may use tensors on a tape of its own") {
  const Parameter w("w", row({1, 2})), probe("probe", row({1, 1}));
  Tape tape;
  const Tensor y = w * w;
  tape.on_grad(y, [&](const Array& grad) {
    Tape inner;
    inner.backward(sum(probe * Tensor(grad)));
  });
  tape.backward(sum(y * real(4)));
  check_equal(probe.grad(), row({4, 4}));
  check_equal(w.grad(), row({8, 16}));
}

TEST_CASE("an empty callback is refused") {
  Tape tape;
  const Tensor x = tape.variable(row({1, 2}));
  check_throws<ValueError>([&] { tape.on_grad(x, nullptr); }, "[on_grad] the callback is empty");
}
