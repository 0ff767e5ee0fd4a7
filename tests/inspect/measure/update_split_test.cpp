#include <xtape/inspect/measure/update_split.hpp>

#include <xtape/optim/adam.hpp>
#include <xtape/optim/sgd.hpp>

#include "support.hpp"

#include <limits>
#include <memory>

using namespace xtape;
using namespace xtape::test;

namespace {

const Limits kLimits = {tolerance(1e-9, 2e-3), tolerance(1e-12, 1e-6)};

/// One parameter whose gradient is given at each step.
struct Single {
  ParamStore store;
  Parameter w;
  explicit Single(std::initializer_list<double> values)
      : w(store.root().parameter("w", {1, std::ssize(values)}, [values](Array& value, Random&) {
          std::copy(values.begin(), values.end(), value.begin());
        })) {}
  void set_grad(std::initializer_list<double> values) { w.set_grad(array({1, std::ssize(values)}, values)); }
};

double norm(std::initializer_list<double> values) {
  double squares = 0;
  for (double x : values) squares += x * x;
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("update split: one step of each scheme, by hand") {
  const double lr = 0.1, decay = 0.5, epsilon = 1e-8;
  const auto numbers_after_one = [&](Optimizer& opt, Single& single) {
    UpdateSplit split(opt);
    single.set_grad({1, -2});
    CHECK(split.step(lr, true));
    REQUIRE(split.numbers().size() == 1);
    CHECK(split.numbers().front().name == "w");
    check_near(split.numbers().front().update, opt.update_norm(single.w), kLimits);
    return split.numbers().front();
  };
  SUBCASE("sgd: the penalty's gradient is the decay part") {
    Single single({3, 4});
    SGD opt(all_parameters(single.store, decay));
    const SplitStats n = numbers_after_one(opt, single);
    check_near(n.decay, lr * decay * 5, kLimits);
    check_near(n.gradient, lr * std::sqrt(5.0), kLimits);
  }
  SUBCASE("sgd, decoupled: the same without momentum") {
    Single single({3, 4});
    SGDW opt(all_parameters(single.store, decay));
    const SplitStats n = numbers_after_one(opt, single);
    check_near(n.decay, lr * decay * 5, kLimits);
    check_near(n.gradient, lr * std::sqrt(5.0), kLimits);
  }
  SUBCASE("adam: both parts are divided by the root of the joint square") {
    Single single({3, 4});
    Adam opt(all_parameters(single.store, decay));
    const SplitStats n = numbers_after_one(opt, single);  // joint gradient (2.5, 0): its second part has no scale
    check_near(n.update, lr * 2.5 / (2.5 + epsilon), kLimits);
    CHECK(n.decay > 1e4);  // 2 / (0 + 1e-8): the parts cancel where the penalty balances the gradient
  }
  SUBCASE("adamw: the decay part does not know of the gradient") {
    Single single({3, 4});
    AdamW opt(all_parameters(single.store, decay));
    const SplitStats n = numbers_after_one(opt, single);
    check_near(n.decay, lr * decay * 5, kLimits);
    check_near(n.gradient, norm({lr / (1 + epsilon), lr * 2 / (2 + epsilon)}), kLimits);
  }
}

TEST_CASE("update split: the parts of linear optimizers are the updates of two optimizers") {
  // SGD is linear in gradient and penalty, so the decay part is what the penalty alone would do along the same path.
  for (const SgdOptions& options : {SgdOptions{.momentum = 0.9}, SgdOptions{.momentum = 0.8, .dampening = 0.3},
                                    SgdOptions{.momentum = 0.9, .nesterov = true}, SgdOptions{}}) {
    Single whole({1, -2, 0.5}), penalty({0, 0, 0});
    SGD opt(all_parameters(whole.store, 0.2), options), alone(all_parameters(penalty.store), options);
    UpdateSplit split(opt);
    Random random(3, "gradients");
    for (int step = 0; step < 6; ++step) {
      Array pull = whole.w.value();
      for (real& x : pull) x *= static_cast<real>(0.2);
      penalty.w.set_grad(pull);
      whole.set_grad({random.normal(), random.normal(), random.normal()});
      const double lr = 0.1 / (1 + step);
      CHECK(split.step(lr, true));
      alone.step(lr);
      check_near(split.numbers().front().decay, alone.update_norm(penalty.w), kLimits);
      check_near(split.numbers().front().update, opt.update_norm(whole.w), kLimits);
    }
  }
}

TEST_CASE("update split: without a gradient all of the update is decay") {
  const auto check_all_decay = [](Single& single, Optimizer& opt) {
    UpdateSplit split(opt);
    for (int step = 0; step < 5; ++step) {
      single.set_grad({0, 0});
      CHECK(split.step(0.01, true));
      const SplitStats n = split.numbers().front();
      CHECK(n.decay > 0);
      check_near(n.decay, n.update, kLimits);
      check_near(n.gradient, 0, {0, tolerance(1e-12, 1e-6)});
    }
  };
  Single a({3, 4}), b({3, 4});
  Adam adam(all_parameters(a.store, 0.1));
  check_all_decay(a, adam);
  AdamW adamw(all_parameters(b.store, 0.1));
  check_all_decay(b, adamw);
}

TEST_CASE("update split: adam decays weights with large gradients less, adamw all alike") {
  // Gradients of changing sign and sizes 0.1 and 10; the penalty is small beside both.
  const auto rates = [](Optimizer& opt, Single& single) {
    UpdateSplit split(opt);
    for (int step = 0; step < 400; ++step) {
      const double sign = step % 2 ? 1 : -1;
      single.set_grad({0.1 * sign, 10 * sign});
      split.step(0.001, step == 399);
    }
    REQUIRE(split.weights().size() == 2);
    check_near(split.weights()[0].root_v, 0.1, {0.02, 0});
    check_near(split.weights()[1].root_v, 10, {0.02, 0});
    return std::pair(split.weights()[0].rate, split.weights()[1].rate);
  };
  Single a({1, 1}), b({1, 1});
  Adam adam(all_parameters(a.store, 0.001));
  AdamW adamw(all_parameters(b.store, 0.001));
  const auto [adam_small, adam_large] = rates(adam, a);
  check_near(adam_small, 0.001 * 0.001 / 0.1, {0.02, 0});
  check_near(adam_large, 0.001 * 0.001 / 10, {0.02, 0});
  const auto [adamw_small, adamw_large] = rates(adamw, b);
  check_near(adamw_small, 0.001 * 0.001, kLimits);
  check_near(adamw_large, 0.001 * 0.001, kLimits);
}

TEST_CASE("update split: what is not moved or not measured has no numbers, and a refused step no share") {
  Single single({1, 2}), other({1, 2});
  SGD opt(all_parameters(single.store, 0.5), {.momentum = 0.9}),
      same(all_parameters(other.store, 0.5), {.momentum = 0.9});
  UpdateSplit split(opt), undisturbed(same);
  CHECK(split.step(0.1, true));  // no gradient yet
  CHECK(split.numbers().empty());
  single.set_grad({1, 1});
  other.set_grad({1, 1});
  CHECK(split.step(0.1, false));
  CHECK(split.numbers().empty());
  undisturbed.step(0.1, false);
  single.set_grad({std::numeric_limits<double>::quiet_NaN(), 1});
  CHECK(!split.step(0.1, true));
  CHECK(split.numbers().empty());
  single.set_grad({1, 1});
  CHECK(split.step(0.1, true));
  undisturbed.step(0.1, true);
  CHECK(split.numbers().front().decay == undisturbed.numbers().front().decay);
  CHECK(split.weights().empty());  // sgd has no v
}

TEST_CASE("update split: what it refuses") {
  Single single({1});
  AveragedSGD averaged(all_parameters(single.store));
  check_throws<UnsupportedError>([&] { UpdateSplit{averaged}; }, "averaged_sgd cannot be split");
  Adam adam(all_parameters(single.store));
  single.set_grad({1});
  adam.step(0.1);
  check_throws<ValueError>([&] { UpdateSplit{adam}; }, "has made steps already");
}

TEST_CASE("update split: norms of updates whose squares overflow, and an Adam without eps") {
  const double big = tolerance(1e200, 1e30);
  Single single({3 * big, 4 * big});
  SGDW sgd(all_parameters(single.store, 0.5));
  UpdateSplit split(sgd);
  single.set_grad({6 * big, 8 * big});
  CHECK(split.step(0.1, true));
  check_near(split.numbers().front().update, 1.25 * big, {1e-5, 0});
  check_near(split.numbers().front().gradient, big, {1e-5, 0});
  check_near(split.numbers().front().decay, 0.25 * big, {1e-5, 0});

  Single still({0, 1});
  Adam adam(all_parameters(still.store, 0.5), {.eps = 0});
  UpdateSplit parts(adam);
  still.set_grad({0, 1});
  CHECK(parts.step(0.1, true));
  check_near(parts.numbers().front().update, 0.1, {1e-5, 0});
  CHECK(std::isfinite(parts.numbers().front().decay));
}
