// Backward passes that throw: what stays usable and what is refused afterwards.
#include "support.hpp"

#include <stdexcept>

using namespace xtape;
using namespace xtape::test;

namespace {

struct Broken : std::runtime_error {
  Broken() : std::runtime_error("broken on purpose") {}
};

/// An op whose backward function throws.
Tensor broken_op(const Tensor& x) {
  return Tape::record("broken", {x}, Tensor(x.value()), [](const Array&, Grads&) { throw Broken(); });
}

/// Runs a backward pass that fails after `late` got its gradient and before `early` gets one.
void fail_backward(Tape& tape, const Parameter& early, const Parameter& late) {
  const Tensor loss = sum(broken_op(early * real(2)) * late);
  CHECK_THROWS_AS(tape.backward(loss), Broken);
}

}  // namespace

TEST_CASE("after a backward function threw, every gradient of the tape is refused until zero_grad") {
  Parameter early("early", row({1, 2})), late("late", row({3, 4})), other("other", row({5, 6}));
  other.set_grad(row({7, 8}));
  Tape tape;
  fail_backward(tape, early, late);
  for (Parameter* p : {&early, &late}) {
    CHECK(p->has_grad());
    check_throws<GradientError>([&] { (void)p->grad(); }, "call zero_grad()");
    check_throws<GradientError>([&] { (void)p->edit_grad(); }, "[parameter " + p->name() + "]");
    p->zero_grad();
    CHECK_FALSE(p->has_grad());
    check_equal(p->grad(), row({0, 0}));
  }
  check_equal(other.grad(), row({7, 8}));  // not on this tape
}

TEST_CASE("after a callback threw, every gradient of the tape is refused until zero_grad") {
  Parameter w("w", row({1, 2}));
  {
    Tape tape;
    const Tensor y = w * w;
    tape.on_grad(y, [](const Array&) { throw Broken(); });
    CHECK_THROWS_AS(tape.backward(sum(y)), Broken);
    CHECK(tape.nodes() == 0);
  }
  check_throws<GradientError>([&] { (void)w.grad(); }, "failed half-way");
  w.zero_grad();
  Tape tape;
  tape.backward(sum(w * w));
  check_equal(w.grad(), row({2, 4}));
}

TEST_CASE("a pass over a parameter with an invalid gradient is refused before it changes anything") {
  Parameter early("early", row({1, 2})), late("late", row({3, 4})), fresh("fresh", row({5, 6}));
  {
    Tape tape;
    fail_backward(tape, early, late);
  }
  Tape tape;
  const Tensor loss = sum(late * fresh);
  check_throws<GradientError>([&] { tape.backward(loss); }, "[backward] parameter late holds the gradient of a pass");
  CHECK_FALSE(fresh.has_grad());
  late.zero_grad();
  tape.backward(loss);
  check_equal(late.grad(), row({5, 6}));
  check_equal(fresh.grad(), row({3, 4}));
}

TEST_CASE("a gradient set by the user replaces an invalid one") {
  Parameter early("early", row({1, 2})), late("late", row({3, 4}));
  Tape tape;
  fail_backward(tape, early, late);
  late.set_grad(row({1, 1}));
  check_equal(late.grad(), row({1, 1}));
}

TEST_CASE("after a failed backward pass, the tape is finished and gives no gradient of its variables") {
  Tape tape;
  const Tensor x = tape.variable(row({1, 2}));
  const Tensor loss = sum(broken_op(x) * x);
  CHECK_THROWS_AS(tape.backward(loss), Broken);
  check_throws<GradientError>([&] { (void)tape.grad(x); }, "[grad] the backward pass failed half-way");
  check_throws<TapeError>([&] { tape.backward(loss); }, "has run backward");
  CHECK(tape.nodes() == 0);
}

TEST_CASE("a backward function that returns a gradient of the wrong shape is refused") {
  Tape tape({.retain_graph = true});
  const Tensor x = tape.variable(row({1, 2}));
  const auto with = [&](auto rule) { return Tape::record("odd", {x}, Tensor(array({2, 2}, {1, 2, 3, 4})), rule); };
  const Tensor pass = with([](const Array&, Grads& g) { g.pass(0); });
  check_throws<ShapeError>([&] { tape.backward(sum(pass)); },
                           "[odd] expected a gradient with the elements of (2), got (2,2)");
}

TEST_CASE("a gradient that does not broadcast to its operand is refused") {
  Tape tape;
  const Tensor x = tape.variable(row({1, 2}));
  const Tensor y = Tape::record("odd", {x}, Tensor(row({1, 2, 3})), [](const Array& dy, Grads& g) { g.add(0, dy); });
  check_throws<ShapeError>([&] { tape.backward(sum(y)); },
                           "[odd] expected a gradient that can be summed to (2), got (3)");
}

TEST_CASE("an exception while a backward function is moved onto the tape leaves the tape usable") {
  struct Stubborn {
    Stubborn() = default;
    Stubborn(Stubborn&&) { throw Broken(); }  // NOLINT(performance-noexcept-move-constructor)
    void operator()(const Array&, Grads&) const {}
  };
  struct OnceMoved {  // can be moved into record, and throws at the last move
    int moves = 0;
    OnceMoved() = default;
    OnceMoved(OnceMoved&& other) : moves(other.moves + 1) {  // NOLINT(performance-noexcept-move-constructor)
      if (moves == 3) throw Broken();
    }
    void operator()(const Array&, Grads&) const {}
  };
  Tape tape;
  const Tensor x = tape.variable(row({1, 2}));
  CHECK_THROWS_AS((void)Tape::record("odd", {x}, Tensor(x.value()), Stubborn()), Broken);
  CHECK_THROWS_AS((void)Tape::record("odd", {x}, Tensor(x.value()), OnceMoved()), Broken);
  tape.backward(sum(x * x));
  check_equal(tape.grad(x), row({2, 4}));
}
