#include "optimizers.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {
const Limits kExact{tolerance(1e-12, 1e-6), tolerance(1e-12, 1e-6)};
}

TEST_CASE("sgd: a new rate takes effect at once, because the velocity does not contain the rate") {
  check_path(path<SGD>(0, 0, SgdOptions{.momentum = 0.9}, {1, 1, 1}, {0.1, 0.01, 0.01}), {-0.1, -0.119, -0.1461},
             kExact);
  check_path(path<SGD>(0, 0, SgdOptions{.momentum = 0.9}, {1, 1, 1}, {0.1, 0.1, 0.1}), {-0.1, -0.29, -0.561}, kExact);
}

TEST_CASE("sgd: the first velocity is the whole gradient, whatever the dampening") {
  // v = 1; then 0.9 + 0.5 * 1 = 1.4; then 0.9 * 1.4 + 0.5 = 1.76
  check_path(path<SGD>(0, 0, SgdOptions{.momentum = 0.9, .dampening = 0.5}, {1, 1, 1}, {0.1, 0.1, 0.1}),
             {-0.1, -0.24, -0.416}, kExact);
}

TEST_CASE("sgd: Nesterov looks ahead along the velocity") {
  // v = 1, moves 1 + 0.9; v = 1.9, moves 1 + 1.71
  check_path(path<SGD>(0, 0, SgdOptions{.momentum = 0.9, .nesterov = true}, {1, 1}, {0.1, 0.1}), {-0.19, -0.461},
             kExact);
}

TEST_CASE("sgd: weight decay works without momentum") {
  check_path(path<SGD>(1, 0.1, SgdOptions{}, {0}, {0.1}), {0.99}, kExact);
  check_path(path<SGDW>(1, 0.1, SgdOptions{}, {0}, {0.1}), {0.99}, kExact);
}

TEST_CASE("sgd: L2 goes through the velocity, decoupled decay does not") {
  // L2: g = 0.1 w; w = 1 - 0.1 = 0.9 (rate 1), v = 0.9 * 0.1 + 0.09 = 0.18, w = 0.72
  check_path(path<SGD>(1, 0.1, SgdOptions{.momentum = 0.9}, {0, 0}, {1, 1}), {0.9, 0.72}, kExact);
  check_path(path<SGDW>(1, 0.1, SgdOptions{.momentum = 0.9}, {0, 0}, {1, 1}), {0.9, 0.81}, kExact);
}

TEST_CASE("sgd: without momentum a penalty gamma |w|^2 equals a weight decay of 2 gamma, decoupled or not") {
  const double gamma = 0.05, lr = 0.1;
  const Array start = row({1, -2, 0.5});
  Parameter by_loss("w", start), l2("w", start), decoupled("w", start);
  SGD plain(one_group(by_loss)), with_l2(one_group(l2, 2 * gamma));
  SGDW with_decay(one_group(decoupled, 2 * gamma));
  Random random(3, "data");
  for (int t = 0; t < 50; ++t) {
    const Array g = noise(random, 3);
    Array penalised = g;
    for (std::size_t i = 0; i < 3; ++i) penalised.data()[i] += static_cast<real>(2 * gamma) * by_loss.value().data()[i];
    step_with(plain, by_loss, penalised, lr);
    step_with(with_l2, l2, g, lr);
    step_with(with_decay, decoupled, g, lr);
  }
  check_near(l2.value(), by_loss.value(), kExact);
  check_near(decoupled.value(), by_loss.value(), kExact);
}

TEST_CASE("sgd: with momentum, L2 and decoupled decay differ") {
  const std::vector<double> grads(20, 0.3), rates(20, 0.1);
  const double l2 = path<SGD>(2, 0.1, SgdOptions{.momentum = 0.9}, grads, rates).back();
  const double decoupled = path<SGDW>(2, 0.1, SgdOptions{.momentum = 0.9}, grads, rates).back();
  std::printf("decay 0.1 over 20 steps of momentum 0.9: L2 ends at %.4f, decoupled at %.4f\n", l2, decoupled);
  CHECK(std::abs(l2 - decoupled) > 0.1);
}

TEST_CASE("sgd: without momentum only the number of steps is stored") {
  Parameter w("w", row({1}));
  SGD optimizer(one_group(w));
  step_with(optimizer, w, row({1}), 0.1);
  const OptimizerState state = optimizer.state();
  CHECK(state.parameters.at("w").steps == 1);
  CHECK(state.parameters.at("w").slots.empty());
}

TEST_CASE("sgd refuses options outside their domain") {
  const auto make = [](const SgdOptions& options) { return [options] { SGD optimizer({}, options); }; };
  check_throws<ValueError>(make({.momentum = 1}), "[sgd] expected momentum from 0 to below 1, got");
  check_throws<ValueError>(make({.momentum = -0.1}), "momentum");
  check_throws<ValueError>(make({.momentum = std::nan("")}), "momentum");
  check_throws<ValueError>(make({.momentum = 0.9, .dampening = 1.5}), "expected a dampening from 0 to 1, got");
  check_throws<ValueError>(make({.momentum = 0.9, .dampening = std::nan("")}), "dampening");
  check_throws<ValueError>(make({.nesterov = true}), "expected a momentum and no dampening for nesterov, got");
  check_throws<ValueError>(make({.momentum = 0.9, .dampening = 0.1, .nesterov = true}), "for nesterov, got ");
  check_throws<ValueError>([] { SGDW optimizer({}, {.momentum = 2}); }, "[sgdw] expected momentum");
}
