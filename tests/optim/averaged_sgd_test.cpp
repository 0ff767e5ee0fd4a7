#include "optimizers.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

/// Gradient of a quadratic with curvatures 0.5, 1, 1.5, ... plus noise.
Array noisy_gradient(const Array& w, Random& random) {
  Array g = noise(random, w.size(), 0, 0.1);
  for (std::size_t i = 0; i < w.size(); ++i)
    g.data()[i] += static_cast<real>(0.5 * static_cast<double>(i + 1)) * w.data()[i];
  return g;
}

/// v = alpha v + epsilon g, w -= v: momentum with the rate inside the velocity.
Array classical_form(const Array& start, double alpha, double epsilon, int steps) {
  Array w = start, v(start.shape());
  v.fill(0);
  Random random(5, "gradients");
  for (int t = 0; t < steps; ++t) {
    const Array g = noisy_gradient(w, random);
    for (std::size_t i = 0; i < w.size(); ++i) {
      v.data()[i] = static_cast<real>(alpha) * v.data()[i] + static_cast<real>(epsilon) * g.data()[i];
      w.data()[i] -= v.data()[i];
    }
  }
  return w;
}

template <class Opt, class Options>
Array by_optimizer(const Array& start, const Options& options, double lr, int steps) {
  Parameter w("w", start);
  Opt optimizer(one_group(w), options);
  Random random(5, "gradients");
  for (int t = 0; t < steps; ++t) step_with(optimizer, w, noisy_gradient(w.value(), random), lr);
  return w.value();
}

double distance(const Array& a, const Array& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i])));
  return largest;
}

}  // namespace

TEST_CASE(
    "averaged_sgd equals momentum with alpha = beta and epsilon = delta (1 - beta), and with no other parameters") {
  const Array start = row({1, -2, 3, 0.5});
  const double beta = 0.9, delta = 0.1;
  const Limits limits{tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-5)};
  const Array averaged = by_optimizer<AveragedSGD>(start, AveragedSgdOptions{.beta = beta}, delta, 100);
  check_near(classical_form(start, beta, delta * (1 - beta), 100), averaged, limits);
  check_near(by_optimizer<SGD>(start, SgdOptions{.momentum = beta}, delta * (1 - beta), 100), averaged, limits);

  const double drift = distance(classical_form(start, delta * beta, delta * (1 - beta), 100), averaged);
  std::printf(
      "the map (beta, delta (1 - beta)) agrees; (delta beta, delta (1 - beta)) is off by %.3f after 100 steps\n",
      drift);
  CHECK(drift > 0.05);
}

TEST_CASE(
    "averaged_sgd: the running mean is (1 - beta) times the sum of beta^(t-i) g_i, with and without bias correction") {
  const std::vector<double> grads = {1, -2, 0.5, 4, 0, -1};
  const double beta = 0.8;
  for (bool correction : {false, true}) {
    Parameter w("w", row({0}));
    AveragedSGD optimizer(one_group(w), {.beta = beta, .bias_correction = correction});
    for (std::size_t t = 0; t < grads.size(); ++t) {
      step_with(optimizer, w, row({grads[t]}), 0.1);
      double want = 0;
      for (std::size_t i = 0; i <= t; ++i) want += (1 - beta) * std::pow(beta, static_cast<double>(t - i)) * grads[i];
      check_near(static_cast<double>(optimizer.state().parameters.at("w").slots.at("exp_avg").data()[0]), want,
                 {tolerance(1e-13, 1e-6), tolerance(1e-14, 1e-7)});
    }
  }
}

TEST_CASE("averaged_sgd: the mean of v is (1 - beta^t) E[g], and E[g] with bias correction") {
  constexpr index_t replicates = 20000;
  const double mean = 0.7, stddev = 1.5, beta = 0.9;
  Parameter w("w", empty_array({replicates}));
  AveragedSGD optimizer(one_group(w), {.beta = beta, .bias_correction = true});
  Random random(11, "replicates");
  for (int t = 1; t <= 30; ++t) {
    w.set_value(Tensor::zeros({replicates}).value());
    step_with(optimizer, w, noise(random, replicates, mean, stddev), 1);  // rate 1 from 0: w = -v / (1 - beta^t)
    const double weight = 1 - std::pow(beta, t);
    const double squares = (1 - beta) / (1 + beta) * (1 - std::pow(beta, 2 * t));  // sum of squared weights of v
    const double error = stddev * std::sqrt(squares / replicates);
    const double v = mean_of(optimizer.state().parameters.at("w").slots.at("exp_avg")), corrected = -mean_of(w.value());
    CHECK(std::abs(v - weight * mean) < 4 * error);
    CHECK(std::abs(corrected - mean) < 4 * error / weight);
    if (t == 1 || t == 5 || t == 30)
      std::printf("running average of gradients with mean %.1f, t = %2d: v %.4f, predicted %.4f; corrected %.4f\n",
                  mean, t, v, weight * mean, corrected);
  }
}

TEST_CASE("averaged_sgd: known steps, with and without bias correction") {
  const Limits limits{tolerance(1e-12, 1e-6), tolerance(1e-12, 1e-6)};
  // v = 0.5, then 0.25 + 1 = 1.25; corrected by 1 - 0.5 and 1 - 0.25
  check_path(path<AveragedSGD>(0, 0, AveragedSgdOptions{.beta = 0.5}, {1, 2}, {0.1, 0.1}), {-0.05, -0.175}, limits);
  check_path(path<AveragedSGD>(0, 0, AveragedSgdOptions{.beta = 0.5, .bias_correction = true}, {1, 2}, {0.1, 0.1}),
             {-0.1, -0.1 - 0.1 * 1.25 / 0.75}, limits);
}

TEST_CASE("averaged_sgd: L2 goes through the running mean, decoupled decay does not") {
  const Limits limits{tolerance(1e-12, 1e-6), tolerance(1e-12, 1e-6)};
  // rate 1, decay 0.1, no gradient. L2: v = 0.05, w = 0.95, v = 0.025 + 0.0475; decoupled: 0.9 a step
  check_path(path<AveragedSGD>(1, 0.1, AveragedSgdOptions{.beta = 0.5}, {0, 0}, {1, 1}), {0.95, 0.8775}, limits);
  check_path(path<AveragedSGDW>(1, 0.1, AveragedSgdOptions{.beta = 0.5}, {0, 0}, {1, 1}), {0.9, 0.81}, limits);
}

TEST_CASE("averaged_sgd refuses options outside their domain") {
  for (double beta : {1.0, -0.5, std::nan("")}) {
    check_throws<ValueError>([&] { AveragedSGD optimizer({}, {.beta = beta}); },
                             "[averaged_sgd] expected beta from 0 to below 1, got");
    check_throws<ValueError>([&] { AveragedSGDW optimizer({}, {.beta = beta}); },
                             "[averaged_sgdw] expected beta from 0 to below 1, got");
  }
}
