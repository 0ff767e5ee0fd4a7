#include "optimizers.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

const Limits kLimits{tolerance(1e-9, 1e-5), tolerance(1e-12, 1e-6)};

std::vector<double> times(index_t count, double value) { return std::vector<double>(count, value); }

}  // namespace

TEST_CASE("adam: epsilon is added after the root and after bias correction, tested with gradients of its size") {
  check_path(path<Adam>(0, 0, AdamOptions{}, {1e-8, 1e-8}, {0.1, 0.1}), {-0.05, -0.1}, kLimits);
  check_path(path<AdamW>(0, 0, AdamOptions{}, {1e-8, 1e-8}, {0.1, 0.1}), {-0.05, -0.1}, kLimits);
}

TEST_CASE("adam: no decay, L2 and decoupled decay, three steps each") {
  const std::vector<double> grads = {0.1, -0.3, 0.2};
  const std::vector<double> plain = {0.9000000100, 0.9494189911, 0.9475402218};
  const Limits limits{tolerance(1e-9, 1e-6), tolerance(1e-12, 1e-7)};  // the expected values have ten digits
  check_path(path<Adam>(1, 0, AdamOptions{}, grads, times(3, 0.1)), plain, limits);
  check_path(path<AdamW>(1, 0, AdamOptions{}, grads, times(3, 0.1)), plain, limits);
  check_path(path<Adam>(1, 0.1, AdamOptions{}, grads, times(3, 0.1)), {0.9000000050, 0.9076998030, 0.8666539056},
             limits);
  check_path(path<AdamW>(1, 0.1, AdamOptions{}, grads, times(3, 0.1)), {0.8900000100, 0.9305189910, 0.9193350318},
             limits);
}

TEST_CASE("adam: Adam and AdamW agree bit for bit without decay") {
  const Array start = sample({37, 11}, 4);
  Parameter a("w", start), b("w", start);
  Adam adam(one_group(a));
  AdamW adamw(one_group(b));
  Random random(8, "gradients");
  for (int t = 0; t < 40; ++t) {
    Array g = noise(random, 37 * 11);
    g.reshape({37, 11});
    step_with(adam, a, g, 0.01);
    step_with(adamw, b, g, 0.01);
  }
  check_equal(b.value(), a.value());
}

TEST_CASE("adam: one step of decay at zero gradient") {
  const Array start = row({1, -2, 4}), zero = row({0, 0, 0});
  Parameter a("w", start), b("w", start);
  AdamW adamw(one_group(a, 0.1));
  Adam adam(one_group(b, 0.1));
  step_with(adamw, a, zero, 0.01);
  step_with(adam, b, zero, 0.01);
  check_near(a.value(), row({0.999, -1.998, 3.996}), {tolerance(1e-12, 1e-6), 0});
  check_near(b.value(), row({0.99, -1.99, 3.99}), {tolerance(1e-6, 1e-6), 0});  // exact except for epsilon
}

TEST_CASE("adam: L2 decays weights with large gradients less, decoupled decay does not") {
  constexpr index_t count = 20000;
  const double lr = 1e-3, lambda = 0.1, stddevs[] = {0.1, 0.3, 1, 3};
  const int before = 400, steps = 100;
  Groups l2, decoupled;
  for (double s : stddevs) {
    const Array ones = Tensor::ones({count}).value();
    l2.push_back({.name = "l2", .parameters = {Parameter(std::to_string(s), ones)}, .weight_decay = lambda});
    decoupled.push_back({.name = "w", .parameters = {Parameter(std::to_string(s), ones)}, .weight_decay = lambda});
  }
  Adam adam(l2, {.beta2 = 0.99});
  AdamW adamw(decoupled, {.beta2 = 0.99});
  Random random(21, "noise");
  for (int t = 0; t < before + steps; ++t) {
    const Array unit = noise(random, count);
    for (std::size_t k = 0; k < l2.size(); ++k) {
      Array g = unit;
      for (std::size_t i = 0; i < count; ++i) g.data()[i] *= static_cast<real>(stddevs[k]);
      l2[k].parameters[0].set_grad(g);
      decoupled[k].parameters[0].set_grad(g);
    }
    const double rate = t < before ? 0 : lr;  // rate 0 until the running means settle
    adam.step(rate);
    adamw.step(rate);
  }
  for (std::size_t k = 0; k < l2.size(); ++k) {
    const double s = stddevs[k], want = lambda / std::sqrt(s * s + lambda * lambda);
    const double by_l2 = -std::log(mean_of(l2[k].parameters[0].value())) / (lr * steps);
    const double by_decay = -std::log(mean_of(decoupled[k].parameters[0].value())) / (lr * steps);
    std::printf("decay rate at noise %.1f: Adam with L2 %.4f, predicted %.4f; AdamW %.4f, predicted %.4f\n", s, by_l2,
                want, by_decay, lambda);
    check_near(by_l2, want, {0.1, 0});
    check_near(by_decay, lambda, {0.1, 0});
  }
}

TEST_CASE("adam: the state is named as in PyTorch and holds the uncorrected means") {
  Parameter w("w", row({0}));
  Adam adam(one_group(w));
  step_with(adam, w, row({2}), 0.1);
  step_with(adam, w, row({-1}), 0.1);
  const OptimizerState state = adam.state();
  CHECK(state.optimizer == "adam");
  CHECK(state.options == std::map<std::string, double>{{"beta1", 0.9}, {"beta2", 0.999}, {"eps", 1e-8}});
  const ParameterState& of_w = state.parameters.at("w");
  CHECK(of_w.steps == 2);
  CHECK(of_w.slots.size() == 2);
  check_near(of_w.slots.at("exp_avg"), row({0.9 * 0.2 - 0.1}), kLimits);
  check_near(of_w.slots.at("exp_avg_sq"), row({0.999 * 0.004 + 0.001}), kLimits);
}

TEST_CASE("adam refuses options outside their domain") {
  const auto make = [](const AdamOptions& options) { return [options] { Adam optimizer({}, options); }; };
  check_throws<ValueError>(make({.beta1 = 1}), "[adam] expected beta1 from 0 to below 1, got");
  check_throws<ValueError>(make({.beta1 = -1}), "beta1");
  check_throws<ValueError>(make({.beta2 = 1}), "expected beta2 from 0 to below 1, got");
  check_throws<ValueError>(make({.beta2 = std::nan("")}), "beta2");
  check_throws<ValueError>(make({.eps = -1e-8}), "expected an eps that is finite and at least 0, got -1e-08");
  check_throws<ValueError>(make({.eps = std::nan("")}), "eps");
  check_throws<ValueError>([] { AdamW optimizer({}, {.beta1 = 3}); }, "[adamw] expected beta1");
}
