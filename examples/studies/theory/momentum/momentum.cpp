// Claims about momentum and running averages of gradients.
#include "studies/common/arrays.hpp"
#include "studies/common/claims.hpp"
#include "studies/common/measurements.hpp"

#include <xtape/xtape.hpp>

using namespace xtape;
using namespace xtape::theory;

namespace {

/// Gradient of 1/2 sum of c_i w_i^2 with curvatures 1, 2, 3, ...
Array gradient_at(const Array& w) {
  Array out = w;
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] *= static_cast<real>(i + 1);
  return out;
}

constexpr index_t kSteps = 200;

/// v <- alpha v + eps g, w <- w - v: the form that keeps the rate inside. The weights after each step.
std::vector<Array> inside_form(const Array& start, double alpha, double eps) {
  std::vector<Array> out;
  Array w = start, v = Tensor::zeros(start.shape()).value();
  for (index_t t = 0; t < kSteps; ++t) {
    const Array g = gradient_at(w);
    for (std::size_t i = 0; i < w.size(); ++i) {
      v.data()[i] = static_cast<real>(alpha * v.data()[i] + eps * g.data()[i]);
      w.data()[i] -= v.data()[i];
    }
    out.push_back(w);
  }
  return out;
}

/// The weights after each step of an optimizer at a constant rate.
template <class Opt, class Options>
std::vector<Array> weights_of(const Array& start, double rate, const Options& options) {
  Parameter w("w", start);
  Opt opt({{.name = "all", .parameters = {w}}}, options);
  std::vector<Array> out;
  for (index_t t = 0; t < kSteps; ++t) {
    w.set_grad(gradient_at(w.value()));
    opt.step(rate);
    out.push_back(w.value());
  }
  return out;
}

double largest_difference(const std::vector<Array>& a, const std::vector<Array>& b) {
  double out = 0;
  for (std::size_t t = 0; t < a.size(); ++t) out = std::max(out, theory::largest_difference(a[t], b[t]));
  return out;
}

/// M1. v_t = alpha v + eps g with step -v equals v_t = beta v + (1-beta) g with step -delta v iff alpha = beta and
/// eps = delta (1-beta): delta v of the second is v of the first.
void two_forms(Report& report) {
  Claim claim(report, {"M1", "Momentum and a running average of gradients are the same for matched rates.",
                       "alpha = beta, eps = delta (1 - beta), delta fixed", "induction over t"});
  Random random(report.seed(), "forms");
  const Array start = normal_array({8}, random);
  const double beta = 0.9, delta = 0.3;
  const auto average = weights_of<AveragedSGD>(start, delta, AveragedSgdOptions{.beta = beta});
  const auto right = inside_form(start, beta, delta * (1 - beta));
  const auto wrong = inside_form(start, delta * beta, delta * (1 - beta));
  claim.near("AveragedSGD and the form with its rate inside, 200 steps", 0, largest_difference(average, right), 1e-12);
  claim.near("AveragedSGD(beta, delta) and SGD(momentum beta, delta (1 - beta))", 0,
             largest_difference(average, weights_of<SGD>(start, delta * (1 - beta), SgdOptions{.momentum = beta})),
             1e-12);
  claim.wrong_statement("\"alpha = delta beta, eps = delta (1 - beta)\": largest difference of weights", 0,
                        largest_difference(average, wrong), 0, "alpha = beta; with delta beta the weights drift apart");
  Plot plot{"Matched and mismatched rates", "step", "largest weight difference to AveragedSGD", false, true, {}};
  for (const auto& [name, other] :
       {std::pair("alpha = beta", &right), std::pair("alpha = delta beta (wrong)", &wrong)}) {
    Curve curve{name, {}, {}};
    for (std::size_t t = 0; t < average.size(); ++t) {
      curve.x.push_back(static_cast<double>(t + 1));
      curve.y.push_back(std::max(1e-18, theory::largest_difference(average[t], (*other)[t])));
    }
    plot.curves.push_back(std::move(curve));
  }
  claim.plot(std::move(plot));
}

/// The running average that AveragedSGD holds after feeding it the given gradients.
Array average_of(const std::vector<Array>& gradients, double beta) {
  Parameter w("w", Tensor::zeros(gradients.front().shape()).value());
  AveragedSGD opt({{.name = "all", .parameters = {w}}}, {.beta = beta});
  for (const Array& g : gradients) {
    w.set_grad(g);
    opt.step(0.1);
  }
  return opt.state().parameters.at("w").slots.at("exp_avg");
}

/// M2. v_t = (1-beta) sum_{i<=t} beta^(t-i) g_i from v_0 = 0.
void weighted_sum(Report& report) {
  Claim claim(report, {"M2", "A running average is a sum with exponential weights.",
                       "v_t = (1 - beta) sum_{i<=t} beta^(t-i) g_i from v_0 = 0", "unrolling the recursion"});
  Random random(report.seed(), "sum");
  const double beta = 0.9;
  std::vector<Array> gradients;
  for (int t = 0; t < 60; ++t) gradients.push_back(normal_array({50}, random));
  Array sum = Tensor::zeros({50}).value();
  for (std::size_t i = 0; i < gradients.size(); ++i)
    for (std::size_t e = 0; e < 50; ++e)
      sum(e) += (1 - beta) * std::pow(beta, static_cast<double>(gradients.size() - 1 - i)) * gradients[i](e);
  claim.near("60 steps: largest |v - sum|", 0, theory::largest_difference(average_of(gradients, beta), sum), 1e-13);
}

/// M3. If E[g] is constant, E[v_t] = (1 - beta^t) E[g]; v_t/(1 - beta^t) is unbiased.
void bias(Report& report) {
  Claim claim(report, {"M3", "A running average is biased to 0 by 1 - beta^t; dividing by that corrects it.",
                       "E[v_t] = (1 - beta^t) E[g]", "Kingma, Ba 2015, section 3"});
  Random random(report.seed(), "bias");
  const double beta = 0.9, mean_gradient = 0.7;
  const index_t samples = report.quick() ? 20'000 : 200'000;
  Plot plot{"Bias of a running average", "step", "mean over samples / E[g]", false, false, {}};
  Curve raw{"v", {}, {}, false, true}, corrected{"v / (1 - beta^t)", {}, {}, false, true},
      law{"1 - beta^t", {}, {}, true}, fed_back{"correction fed back", {}, {}};
  std::vector<Array> gradients;
  double back = 0;
  for (int t = 1; t <= 30; ++t) {
    gradients.push_back(normal_array({samples}, random, 1, mean_gradient));
    const double share = 1 - std::pow(beta, t);
    back = (beta * back + (1 - beta)) / share;
    if (t <= 4) fed_back.x.push_back(t), fed_back.y.push_back(back);
    if (t != 1 && t != 2 && t != 5 && t % 10) continue;
    const Array v = average_of(gradients, beta);
    const Mean measured = mean_of({v.begin(), v.end()});
    claim.near("step " + std::to_string(t) + ": mean of v (4 standard errors)", share * mean_gradient, measured.mean,
               4 * measured.error);
    claim.near("step " + std::to_string(t) + ": mean of v / (1 - beta^t)", mean_gradient, measured.mean / share,
               4 * measured.error / share);
    raw.x.push_back(t), raw.y.push_back(measured.mean / mean_gradient);
    corrected.x.push_back(t), corrected.y.push_back(measured.mean / share / mean_gradient);
    law.x.push_back(t), law.y.push_back(share);
  }
  claim.at_least("the correction fed back into v, 30 steps of g = 1: it diverges", 100, back);
  plot.curves = {law, raw, corrected, fed_back};
  claim.plot(std::move(plot));
}

void measure(int argc, char** argv) {
  Report report("theory_momentum", "Measures what theory says of momentum and running averages.", {}, argc, argv);
  two_forms(report);
  weighted_sum(report);
  bias(report);
  report.finish();
}

}  // namespace

int main(int argc, char** argv) { return run_program(measure, argc, argv); }
