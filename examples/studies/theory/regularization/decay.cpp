// L2 penalty and decoupled decay under SGD and Adam.
#include "groups.hpp"

namespace xtape::theory {

namespace {

std::vector<ParamGroup> group(const Parameter& w, double weight_decay = 0) {
  return {{.name = "all", .parameters = {w}, .weight_decay = weight_decay}};
}

/// 1/2 |A w - b|^2 with fixed random A and b.
Tensor loss_of(const Tensor& w) {
  const Tensor a = sample({6, 4}, 21), b = sample({6}, 22);
  return sum(pow(matmul(a, w) - b, 2)) * 0.5;
}

/// The weights after 100 steps at rate 0.05 with a penalty gamma |w|^2 in the loss and the group's decay.
template <class Opt>
Array trained(double gamma, double weight_decay, const SgdOptions& options) {
  Parameter w("w", sample({4}, 23));
  Opt opt(group(w, weight_decay), options);
  for (int t = 0; t < 100; ++t) {
    Tape tape;
    const Tensor loss = loss_of(w);
    tape.backward(gamma > 0 ? loss + sum(pow(w.tensor(), 2)) * static_cast<real>(gamma) : loss);
    opt.step(0.05);
    w.zero_grad();
  }
  return w.value();
}

/// W1. grad of gamma |w|^2 is 2 gamma w: w - eta (g + 2 gamma w) = (1 - 2 eta gamma) w - eta g.
void penalty_is_decay(Report& report) {
  Claim claim(report, {"W1", "For plain SGD an L2 penalty is a decay of the weights; with momentum it is not.",
                       "gamma |w|^2 in the loss: w <- (1 - 2 eta gamma) w - eta g, weight_decay = 2 gamma",
                       "Loshchilov, Hutter 2019, proposition 1"});
  const double gamma = 0.2;
  const Array by_loss = trained<SGD>(gamma, 0, {});
  claim.near("penalty in the loss and weight_decay = 2 gamma, 100 steps", 0,
             largest_difference(by_loss, trained<SGD>(0, 2 * gamma, {})), 1e-12);
  claim.near("penalty in the loss and decoupled factor 1 - 2 eta gamma", 0,
             largest_difference(by_loss, trained<SGDW>(0, 2 * gamma, {})), 1e-12);
  claim.at_least("with momentum 0.9 the two decays differ", 1e-3,
                 largest_difference(trained<SGD>(0, 2 * gamma, {.momentum = 0.9}),
                                    trained<SGDW>(0, 2 * gamma, {.momentum = 0.9})));
}

/// The weights after `steps` of an Adam with the given gradients.
template <class Opt>
Array after(const Array& start, const std::vector<Array>& gradients, double lr, double decay) {
  Parameter w("w", start);
  Opt opt(group(w, decay));
  for (const Array& g : gradients) {
    w.set_grad(g);
    opt.step(lr);
  }
  return w.value();
}

/// W2. Adam-L2: g <- g + lambda w before the moments; AdamW: w <- w - eta lambda w outside them.
void two_adams(Report& report) {
  Claim claim(report,
              {"W2", "Adam with L2 sends the decay through its moments, AdamW past them.",
               "step lr g/(sqrt(v) + eps), the epsilon outside the root", "Kingma, Ba 2015; Loshchilov, Hutter 2019"});
  Random random(report.seed(), "adams");
  std::vector<Array> gradients;
  for (int t = 0; t < 50; ++t) gradients.push_back(normal_array({3}, random));
  const Array start{1, -2, 4}, zero{0, 0, 0};
  claim.equal("lambda = 0, 50 steps: largest difference", 0,
              largest_difference(after<Adam>(start, gradients, 0.01, 0), after<AdamW>(start, gradients, 0.01, 0)));
  claim.near("one step, zero gradient, lambda 0.1: AdamW to (0.999, -1.998, 3.996)", 0,
             largest_difference(after<AdamW>(start, {zero}, 0.01, 0.1), Array{0.999, -1.998, 3.996}), 1e-12);
  claim.near("the same: Adam-L2 to (0.99, -1.99, 3.99)", 0,
             largest_difference(after<Adam>(start, {zero}, 0.01, 0.1), Array{0.99, -1.99, 3.99}), 2e-9);
  const double tiny = 1e-8;  // as large as epsilon: here its place decides
  const double step = 1 - after<Adam>(Array{1}, {Array{tiny}}, 0.01, 0)(0);
  claim.relative("one step at g = 1e-8: epsilon outside the root", 0.01 * tiny / (tiny + 1e-8), step, 1e-6);
  claim.wrong_statement("\"g / sqrt(v + eps)\": step at g = 1e-8", 0.01 * tiny / std::sqrt(tiny * tiny + 1e-8), step,
                        0.5, "the epsilon stands outside the root");
}

/// Rate of decay at |w| = 1 under gradients of mean 0 and standard deviation s, in units of eta.
template <class Opt>
double rate_of_decay(double s, double lambda, index_t steps, Random random) {
  const index_t count = 20'000;
  Array start = empty_array({count});
  for (std::size_t i = 0; i < count; ++i) start(i) = i % 2 ? 1 : -1;
  Parameter w("w", start);
  Opt opt(group(w, lambda));
  const double lr = 1e-5;
  for (index_t t = 0; t < steps; ++t) {
    w.set_grad(normal_array({count}, random, s));
    opt.step(lr);
  }
  double moved = 0;
  for (std::size_t i = 0; i < count; ++i) moved += start(i) * (start(i) - w.value()(i));
  return moved / static_cast<double>(count) / lr / static_cast<double>(steps);
}

/// W3. In the mean Adam-L2 steps eta lambda w / sqrt(E g^2), E g^2 = s^2 + lambda^2 w^2.
void decay_by_noise(Report& report) {
  Claim claim(report, {"W3", "Adam-L2 decays weights of large gradients less; AdamW all alike.",
                       "rate eta lambda / sqrt(s^2 + lambda^2 w^2) (Adam-L2), eta lambda (AdamW)",
                       "Loshchilov, Hutter 2019, section 3; by the stationary second moment"});
  const double lambda = 0.1;
  const index_t steps = report.quick() ? 300 : 2000;
  Curve law{"lambda / sqrt(s^2 + lambda^2)", {}, {}, true}, flat{"lambda", {0.1, 3}, {lambda, lambda}, true};
  Curve l2{"Adam-L2", {}, {}, false, true}, decoupled{"AdamW", {}, {}, false, true};
  for (double s = 0.1; s <= 3.01; s *= std::pow(30, 1.0 / 20))
    law.x.push_back(s), law.y.push_back(lambda / std::hypot(s, lambda));
  for (double s : {0.1, 0.3, 1.0, 3.0}) {
    const double predicted = lambda / std::hypot(s, lambda);
    l2.x.push_back(s), l2.y.push_back(rate_of_decay<Adam>(s, lambda, steps, Random(report.seed(), "noise")));
    decoupled.x.push_back(s),
        decoupled.y.push_back(rate_of_decay<AdamW>(s, lambda, steps, Random(report.seed(), "noise")));
    const std::string noise = "noise " + std::to_string(s).substr(0, 3);
    claim.relative(noise + ", Adam-L2", predicted, l2.y.back(), 0.1);
    claim.relative(noise + ", AdamW", lambda, decoupled.y.back(), 0.1);
  }
  claim.plot({"Decay under gradient noise, |w| = 1, lambda = 0.1",
              "standard deviation s of the gradient",
              "rate of decay / eta",
              true,
              true,
              {law, flat, l2, decoupled}});
}

}  // namespace

void decay(Report& report) {
  penalty_is_decay(report);
  two_adams(report);
  decay_by_noise(report);
}

}  // namespace xtape::theory
