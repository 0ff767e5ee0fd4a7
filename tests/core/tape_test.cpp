// What a tape records, what it refuses, and how tapes nest.
#include "support.hpp"

#include <thread>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("without a live tape nothing is recorded") {
  const Parameter w("w", row({1, 2}));
  const Tensor y = sum(w.tensor() * w);
  CHECK_FALSE(w.tensor().tracked());
  CHECK_FALSE(y.tracked());
  CHECK(Tape::live_nodes() == 0);
  CHECK(Tape::recorder() == nullptr);
}

TEST_CASE("a tape records only ops that depend on a parameter or variable") {
  const Parameter w("w", row({1, 2}));
  Tape tape;
  const Tensor constant = Tensor(row({3, 4})) * Tensor(row({5, 6}));
  CHECK_FALSE(constant.tracked());
  CHECK(tape.nodes() == 0);
  const Tensor y = w * constant;
  CHECK(y.tracked());
  CHECK(tape.nodes() == 2);  // the parameter and the product
  CHECK(Tape::live_nodes() == 2);
  CHECK_FALSE(y.detach().tracked());
  check_equal(y.detach().value(), y.value());
}

TEST_CASE("a parameter that is not trainable is a constant") {
  Parameter w("w", row({1, 2}));
  w.set_trainable(false);
  Tape tape;
  CHECK_FALSE(w.tensor().tracked());
  w.set_trainable(true);
  CHECK(w.tensor().tracked());
}

TEST_CASE("a parameter takes one node on a tape, however often it is used") {
  const Parameter w("w", row({1, 2}));
  Tape tape;
  const Tensor loss = sum(w.tensor() * w + w);
  CHECK(tape.nodes() == 4);  // w, mul, add, sum
  tape.backward(loss);
  check_equal(w.grad(), row({3, 5}));
}

TEST_CASE("detach cuts the gradient") {
  const Parameter w("w", row({2, 3}));
  Tape tape;
  const Tensor w_now = w;
  tape.backward(sum(w_now * w_now.detach()));
  check_equal(w.grad(), row({2, 3}));
}

TEST_CASE("a detached tensor outlives its tape") {
  Tensor kept;
  {
    Tape tape;
    kept = (tape.variable(row({1, 2})) * real(3)).detach();
  }
  check_equal(kept.value(), row({3, 6}));
  check_equal((kept + kept).value(), row({6, 12}));
}

TEST_CASE("the innermost tape records, and tensors of an outer tape are constants there") {
  const Parameter w("w", row({2, 3})), u("u", row({5, 7}));
  Tape outer;
  const Tensor a = w * real(4);  // (8, 12)
  {
    Tape inner;
    CHECK(Tape::recorder() == &inner);
    inner.backward(sum(a * u));
    check_equal(u.grad(), row({8, 12}));
    CHECK_FALSE(w.has_grad());
    CHECK(outer.nodes() == 2);
  }
  CHECK(Tape::recorder() == &outer);
  outer.backward(sum(a * a));  // 16 w^2
  check_equal(w.grad(), row({64, 96}));
}

TEST_CASE("the outer tape records again after the inner one has run backward") {
  const Parameter w("w", row({2, 3}));
  Tape outer;
  Tape inner;
  const Tensor from_inner = sum(w * real(2));
  inner.backward(from_inner);
  CHECK(Tape::recorder() == &outer);
  const Tensor loss = sum(w * real(10));
  outer.backward(loss);
  check_equal(w.grad(), row({12, 12}));
  check_throws<TapeError>([&] { (void)(from_inner + from_inner); },
                          "[add] an input belongs to a tape that is finished");
}

TEST_CASE("a parameter used before and after an inner tape takes one node on the outer tape") {
  Parameter w("w", row({2, 3})), other("other", row({1, 1}));
  Tape outer;
  const Tensor before = w * real(4);
  {
    Tape inner;
    inner.backward(sum(w * other));
  }
  w.zero_grad();
  const Tensor after = w * before;
  CHECK(outer.nodes() == 3);
  int calls = 0;
  outer.on_grad(w, [&](const Array& grad) {
    ++calls;
    check_equal(grad, row({16, 24}));  // complete gradient of 4 w^2
  });
  outer.backward(sum(after));
  CHECK(calls == 1);
  check_equal(w.grad(), row({16, 24}));
}

TEST_CASE("tapes may end in any order") {
  const Parameter w("w", row({2, 3}));
  auto first = std::make_unique<Tape>();
  auto second = std::make_unique<Tape>();
  first.reset();
  CHECK(Tape::recorder() == second.get());
  second->backward(sum(w * w));
  check_equal(w.grad(), row({4, 6}));
  second.reset();
  CHECK(Tape::recorder() == nullptr);
  CHECK(Tape::live_nodes() == 0);
}

TEST_CASE("the gradient of a diamond-shaped graph is the sum over all paths") {
  Tape tape;
  const Tensor a = tape.variable(array({}, {2})), b = tape.variable(array({}, {3}));
  const Tensor c = a + b, d = a * b, e = c + d, f = c * d, y = e + f;
  CHECK(y.item() == 41);
  tape.backward(y);
  check_equal(tape.grad(a), array({}, {25}));
  check_equal(tape.grad(b), array({}, {19}));
}

TEST_CASE("one tensor may be every operand of an op") {
  const auto derivative = [](double at, auto f) {
    Tape tape;
    const Tensor x = tape.variable(array({}, {at}));
    tape.backward(f(x));
    return static_cast<double>(tape.grad(x)());
  };
  CHECK(derivative(2, [](const Tensor& x) { return (x * x) * x; }) == 12);
  CHECK(derivative(2, [](const Tensor& x) { return x + x; }) == 2);
  CHECK(derivative(2, [](const Tensor& x) { return x - x; }) == 0);
  CHECK(derivative(2, [](const Tensor& x) { return x / x; }) == 0);
}

TEST_CASE("x + x repeated n times runs n backward functions, not 2^n") {
  Tape tape;
  const Tensor x = tape.variable(array({}, {1}));
  Tensor h = x;
  int rules = 0;
  for (int i = 0; i < 20; ++i) {
    h = h + h;
    tape.on_grad(h, [&](const Array&) { ++rules; });
  }
  tape.backward(h);
  check_equal(tape.grad(x), array({}, {1048576}));
  CHECK(rules == 20);
}

TEST_CASE("a second backward is refused and changes nothing") {
  const Parameter a("a", array({}, {3})), b("b", array({}, {2})), d("d", array({}, {1}));
  Tape tape;
  const Tensor e = (a + b) * d;
  tape.backward(e);
  check_throws<TapeError>([&] { tape.backward(e); }, "[backward] this tape has run backward and is released");
  CHECK(a.grad()() == 1);
  CHECK(b.grad()() == 1);
  CHECK(d.grad()() == 5);
}

TEST_CASE("a tape that keeps its backward functions adds the same gradients again") {
  const Parameter a("a", array({}, {3})), b("b", array({}, {2})), d("d", array({}, {1}));
  Tape tape({.retain_graph = true});
  const Tensor e = (a + b) * d;
  tape.backward(e);
  tape.backward(e);
  CHECK(a.grad()() == 2);
  CHECK(b.grad()() == 2);
  CHECK(d.grad()() == 10);
}

TEST_CASE("a tape that keeps its backward functions gives a Jacobian row by row") {
  Tape tape({.retain_graph = true});
  const Tensor x = tape.variable(row({2, 3, 5}));
  const Tensor y = concat({x * x, sum(x, {}, true)}, 0);  // (x1^2, x2^2, x3^2, x1+x2+x3)
  const Array jacobian = array({4, 3}, {4, 0, 0, 0, 6, 0, 0, 0, 10, 1, 1, 1});
  for (std::size_t i = 0; i < 4; ++i) {
    Array seed = Tensor::zeros({4}).value();
    seed(i) = 1;
    tape.backward(y, seed);
    check_equal(tape.grad(x), row({jacobian(i, 0), jacobian(i, 1), jacobian(i, 2)}));
  }
  CHECK(tape.nodes() > 0);
  const Tensor more = sum(y * y);  // the tape still records
  tape.backward(more);
  check_equal(tape.grad(x), row({4 * 8 + 2 * 10, 4 * 27 + 2 * 10, 4 * 125 + 2 * 10}));
}

TEST_CASE("backward refuses tensors that it cannot start from") {
  const Parameter w("w", row({1, 2}));
  Tape tape;
  const Tensor y = w * w, loss = sum(y);
  check_throws<TapeError>([&] { tape.backward(y); },
                          "[backward] expected a loss with one element, or a seed of its shape, got");
  check_throws<TapeError>([&] { tape.backward(y); }, "got (2)");
  check_throws<ShapeError>([&] { tape.backward(y, row({1, 2, 3})); },
                           "[backward] expected a seed of shape (2), got (3)");
  check_throws<TapeError>([&] { tape.backward(loss.detach()); }, "[backward] the tensor is not tracked");
  check_throws<TapeError>([&] { tape.backward(Tensor()); }, "[backward] the tensor is not tracked");
  CHECK_FALSE(w.has_grad());
  tape.backward(loss);  // the refused calls changed nothing
  check_equal(w.grad(), row({2, 4}));
}

TEST_CASE("a loss of any shape with one element needs no seed") {
  const Parameter w("w", row({1, 2}));
  Tape tape;
  tape.backward(sum(w * w, {}, true));
  check_equal(w.grad(), row({2, 4}));
}

TEST_CASE("a tensor of another tape is refused") {
  const Parameter w("w", row({1, 2}));
  Tape first;
  const Tensor loss = sum(w * w);
  Tape second;
  check_throws<TapeError>([&] { second.backward(loss); }, "[backward] the tensor belongs to another tape");
  check_throws<TapeError>([&] { second.watch(loss, "loss"); }, "[watch] the tensor belongs to another tape");
  check_throws<TapeError>([&] { (void)second.grad(loss); }, "[grad] the tensor belongs to another tape");
}

TEST_CASE("a tensor of a dead tape is refused until it is detached") {
  Tensor kept;
  {
    Tape tape;
    kept = tape.variable(row({1, 2}));
  }
  check_throws<TapeError>([&] { (void)sum(kept); }, "[sum] an input belongs to a tape that is finished or on another");
  Tape tape;
  check_throws<TapeError>([&] { (void)(kept * kept); }, "call detach()");
  check_equal(sum(kept.detach()).value(), array({}, {3}));
}

TEST_CASE("a tensor of another thread's tape is refused") {
  Tape tape;
  const Tensor x = tape.variable(row({1, 2}));
  std::thread([&] {
    check_throws<TapeError>([&] { (void)(x + x); }, "on another thread");
    Tape own;
    check_throws<TapeError>([&] { (void)(x + x); }, "on another thread");
    check_equal((x.detach() + x.detach()).value(), row({2, 4}));
  }).join();
  tape.backward(sum(x));
  check_equal(tape.grad(x), row({1, 1}));
}

TEST_CASE("a parameter changed between forward and backward is refused") {
  Parameter w("layer.w", row({1, 2}));
  Tape tape;
  const Tensor loss = sum(w * w);
  w.set_value(row({5, 6}));
  check_throws<TapeError>([&] { tape.backward(loss); },
                          "[backward] parameter layer.w changed between forward and backward");
  CHECK_FALSE(w.has_grad());
}

TEST_CASE("backward inside backward is refused as unsupported") {
  const Parameter w("w", row({1, 2}));
  Tape tape;
  const Tensor loss = sum(w * w);
  tape.on_grad(w, [&](const Array&) { tape.backward(loss); });
  check_throws<UnsupportedError>([&] { tape.backward(loss); }, "gradients of gradients are not offered");
}

TEST_CASE("a tape that has run backward records nothing more") {
  const Parameter w("w", row({1, 2}));
  Tape tape;
  const Tensor loss = sum(w * w);
  tape.backward(loss);
  check_throws<TapeError>([&] { (void)tape.variable(row({1})); }, "[variable] this tape is finished");
  check_throws<TapeError>([&] { tape.watch(loss, "loss"); }, "[watch] this tape has run backward");
  check_throws<TapeError>([&] { (void)(loss + loss); }, "[add] an input belongs to a tape that is finished");
  CHECK_FALSE(w.tensor().tracked());
}

TEST_CASE("grad is available for variables only") {
  const Parameter w("w", row({1, 2}));
  Tape tape;
  const Tensor x = tape.variable(row({3, 4})), unused = tape.variable(array({2, 1}, {3, 4}));
  const Tensor y = x * w;
  tape.backward(sum(y));
  check_equal(tape.grad(x), row({1, 2}));
  check_equal(tape.grad(unused), array({2, 1}, {0, 0}));
  check_throws<TapeError>([&] { (void)tape.grad(y); }, "[grad] only variables keep their gradient");
}

TEST_CASE("nodes after the loss get no gradient") {
  const Parameter w("w", row({1, 2})), v("v", row({3, 4}));
  Tape tape;
  const Tensor loss = sum(w * w);
  const Tensor unused = sum(w * v);
  tape.backward(loss);
  check_equal(w.grad(), row({2, 4}));
  CHECK_FALSE(v.has_grad());
  CHECK(unused.item() == 11);
}

TEST_CASE("values saved for backward cannot be changed from outside") {
  Array data = row({1, 2, 3});
  Tape tape;
  const Tensor x = tape.variable(data), y = sigmoid(x);
  data(1) = 100;
  Array copy = y.value();
  copy(1) = 2;
  tape.backward(sum(y));
  check_near(tape.grad(x), row({0.1966119332, 0.1049935854, 0.0451766597}), {tolerance(1e-9, 1e-6), 0});
}

TEST_CASE("tensors taken from a parameter keep its old value") {
  Parameter a("a", Tensor::ones({4}).value());
  const Tensor old = a;
  const Tensor c = old * old;
  a.edit()[1] = real(3.3);
  check_equal(old.value(), row({1, 1, 1, 1}));
  Tape tape;
  const Tensor x = tape.variable(c.value());
  Array changed = x.value();
  const Tensor y = x * x;
  changed(1) = real(3.3);
  tape.backward(sum(y * y));
  check_equal(tape.grad(x), row({4, 4, 4, 4}));
}
