#include "optimizers.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

const Limits kRounding{tolerance(1e-12, 1e-6), 0};

Parameter with_grad(std::initializer_list<double> grad) {
  Parameter p("p", Tensor::zeros({std::ssize(grad)}).value());
  p.set_grad(row(grad));
  return p;
}

}  // namespace

TEST_CASE("clip_grad_norm: scales to the limit and returns the norm before clipping") {
  Parameter p = with_grad({3, 4});
  CHECK(clip_grad_norm({p}, 1) == 5);
  check_near(p.grad(), row({0.6, 0.8}), kRounding);
  CHECK(p.grad_norm() == 5);  // cached for the log
}

TEST_CASE("clip_grad_norm: the norm is joint over all parameters") {
  Parameter p = with_grad({3}), q = with_grad({0, 4});
  check_near(clip_grad_norm({p, q}, 2.5), 5, kRounding);
  check_near(p.grad(), row({1.5}), kRounding);
  check_near(q.grad(), row({0, 2}), kRounding);
  CHECK(p.grad_norm() == 3);
  CHECK(q.grad_norm() == 4);
}

TEST_CASE("clip_grad_norm: gradients at or below the limit keep every bit") {
  Parameter p = with_grad({0.1, 0.7, -0.3});
  clip_grad_norm({p}, 10);
  check_equal(p.grad(), row({0.1, 0.7, -0.3}));
  Parameter at_limit = with_grad({3, 4});
  CHECK(clip_grad_norm({at_limit}, 5) == 5);
  check_equal(at_limit.grad(), row({3, 4}));
}

TEST_CASE("clip_grad_norm: zero gradients, a limit of zero, an infinite limit, and no parameters") {
  Parameter zero = with_grad({0, 0});
  CHECK(clip_grad_norm({zero}, 1) == 0);
  check_equal(zero.grad(), row({0, 0}));
  CHECK(clip_grad_norm({zero}, 0) == 0);
  check_equal(zero.grad(), row({0, 0}));
  Parameter p = with_grad({3, 4});
  CHECK(clip_grad_norm({p}, kInf) == 5);
  check_equal(p.grad(), row({3, 4}));
  CHECK(clip_grad_norm({p}, 0) == 5);
  check_equal(p.grad(), row({0, 0}));
  CHECK(clip_grad_norm(std::vector<Parameter>{}, 1) == 0);
  CHECK(clip_grad_norm(ParamStore(), 1) == 0);
}

TEST_CASE("clip_grad_norm: a norm that is not finite is returned, nothing is scaled, and no step is taken") {
  for (double bad : {kInf, kNaN}) {
    Parameter p = with_grad({bad, 1}), q = with_grad({2});
    const double norm = clip_grad_norm({p, q}, 1);
    CHECK(std::isnan(norm) == std::isnan(bad));
    CHECK_FALSE(std::isfinite(norm));
    check_equal(p.grad(), row({bad, 1}));
    check_equal(q.grad(), row({2}));
    SGD optimizer({{.name = "g", .parameters = {p}}});
    CHECK_FALSE(optimizer.step(0.1));
    check_equal(p.value(), row({0, 0}));
  }
}

TEST_CASE("clip_grad_norm: squares that overflow or underflow do not affect the norm") {
  const double big = tolerance(1e200, 1e30), small = tolerance(1e-200, 1e-30);
  Parameter p = with_grad({3 * big, 4 * big});
  check_near(clip_grad_norm({p}, 1), 5 * big, {tolerance(1e-12, 1e-6), 0});
  check_near(p.grad(), row({0.6, 0.8}), kRounding);
  Parameter q = with_grad({3 * small, 4 * small});
  check_near(clip_grad_norm({q}, 1), 5 * small, {tolerance(1e-12, 1e-6), 0});
}

TEST_CASE("clipping: a parameter without a gradient is ignored and gets none") {
  Parameter p = with_grad({3, 4}), none("none", row({1}));
  CHECK(clip_grad_norm({none, p}, 1) == 5);
  clip_grad_value({none, p}, 0.1);
  CHECK_FALSE(none.has_grad());
}

TEST_CASE("clipping: a store clips all its parameters, tied ones once") {
  ParamStore store;
  Parameter w = store.root().parameter("w", {2}, init::zeros());
  store.root().tie("again", w);
  w.set_grad(row({3, 4}));
  CHECK(clip_grad_norm(store, 1) == 5);
  check_near(w.grad(), row({0.6, 0.8}), kRounding);
  clip_grad_value(store, 0.7);
  check_near(w.grad(), row({0.6, 0.7}), kRounding);
}

TEST_CASE("clip_grad_value: clamps elements to the interval and returns the norm before clipping") {
  Parameter p = with_grad({3, -4, 0.25});
  check_near(clip_grad_value({p}, 0.5), std::sqrt(25.0625), kRounding);
  check_equal(p.grad(), row({0.5, -0.5, 0.25}));
  check_near(p.grad_norm(), std::sqrt(25.0625), kRounding);
  clip_grad_value({p}, 0);
  check_equal(p.grad(), row({0, 0, 0}));
}

TEST_CASE("clip_grad_value: NaN and infinity in gradients are not clamped") {
  for (double bad : {kInf, kNaN}) {
    Parameter p = with_grad({bad, 3});
    CHECK_FALSE(std::isfinite(clip_grad_value({p}, 1)));
    check_equal(p.grad(), row({bad, 3}));
  }
}

TEST_CASE("clipping: a change of the gradient clears the cached norm") {
  Parameter p = with_grad({3, 4});
  clip_grad_norm({p}, 1);
  p.edit_grad()[0] = 0;
  check_near(p.grad_norm(), 0.8, kRounding);
  clip_grad_norm({p}, 0.1);
  p.zero_grad();
  CHECK(p.grad_norm() == 0);
}

TEST_CASE("clipping refuses limits outside their domain and gradients of a failed backward pass") {
  for (double bad : {-1.0, kNaN}) {
    Parameter p = with_grad({3, 4});
    check_throws<ValueError>([&] { clip_grad_norm({p}, bad); }, "[clip_grad_norm] expected a limit of at least 0, got");
    check_throws<ValueError>([&] { clip_grad_value({p}, bad); },
                             "[clip_grad_value] expected a limit of at least 0, got");
    check_equal(p.grad(), row({3, 4}));
  }
  Parameter good = with_grad({3, 4}), failed("failed", row({1}));
  Tape tape;
  const Tensor loss = sum(failed.tensor());
  tape.on_grad(loss, [](const Array&) { throw std::runtime_error("stop"); });
  check_throws<std::runtime_error>([&] { tape.backward(loss); }, "stop");
  check_throws<GradientError>([&] { clip_grad_norm({good, failed}, 1); }, "parameter failed");
  check_throws<GradientError>([&] { clip_grad_value({good, failed}, 1); }, "parameter failed");
  check_throws<GradientError>([&] { divide_grads({good, failed}, 2); }, "parameter failed");
  check_equal(good.grad(), row({3, 4}));
}
