// Vanilla networks: two forms, the bound on their Jacobians, and explosion.
#include "groups.hpp"

namespace xtape::theory {

namespace {

constexpr index_t kUnits = 24;

/// h_t = W s(h_{t-1}) + b for t = 1..T, from h0.
struct Recurrence {
  RNNCell cell;
  Tensor no_input = Tensor::zeros({1, 1});

  Recurrence(const ParamStore& store, const Scope& scope, index_t width, Nonlinearity s, const Array& weight,
             const Array& bias = {})
      : cell(scope, 1, width,
             {.nonlinearity = s, .place = NonlinearityPlace::outside, .init = {.bias = init::zeros()}}) {
    store.parameter("weight_hh").set_value(weight);
    if (bias.size() > 1) store.parameter("bias_hh").set_value(bias);
  }
  Tensor operator()(index_t, const Tensor& h) const { return cell(no_input, h); }
};

/// b = -W 1/2: keeps the arguments of a sigmoid near 0, where its derivative is largest.
Array centering_bias(const Array& weight) {
  Array bias = empty_array({shape_of(weight)[0]});
  for (std::size_t i = 0; i < weight.shape(0); ++i) {
    bias(i) = 0;
    for (std::size_t j = 0; j < weight.shape(1); ++j) bias(i) -= weight(i, j) / 2;
  }
  return bias;
}

std::vector<double> numbers(const std::vector<index_t>& values) { return {values.begin(), values.end()}; }

/// R1. With g_t = s(h_t), g_t = s(W s(h_{t-1}) + U x_t + b) = s(W g_{t-1} + U x_t + b), if g_0 = s(h_0).
void two_forms(Report& report) {
  Claim claim(report,
              {"R1", "Two parametrizations of a vanilla network are the same.",
               "h_t = W s(h_{t-1}) + U x_t + b and g_t = s(W g_{t-1} + U x_t + b): g_t = s(h_t) if g_0 = s(h_0)",
               "substitution; Pascanu, Mikolov, Bengio 2013, section 1"});
  Random random(report.seed(), "two forms");
  const Tensor x = normal_array({3, 30, 4}, random), h0 = normal_array({3, kUnits}, random);
  const auto apart = [&](Nonlinearity s, const Tensor& h, const Tensor& g) {
    ParamStore outside(1), inside(1);  // the same seed and names: the same weights
    const RNN first(outside.root(), 4, kUnits, {.nonlinearity = s, .place = NonlinearityPlace::outside});
    const RNN second(inside.root(), 4, kUnits, {.nonlinearity = s});
    const Tensor states = first(x, {{h}}).y;
    return largest_difference((s == Nonlinearity::tanh ? tanh(states) : sigmoid(states)).value(),
                              second(x, {{g}}).y.value());
  };
  const Tensor zero = Tensor::zeros({3, kUnits});
  claim.near("tanh, 30 steps, largest |g_t - s(h_t)|", 0, apart(Nonlinearity::tanh, h0, tanh(h0)), 1e-12);
  claim.near("sigmoid", 0, apart(Nonlinearity::sigmoid, h0, sigmoid(h0)), 1e-12);
  claim.near("tanh, both starts 0 (tanh 0 = 0)", 0, apart(Nonlinearity::tanh, zero, zero), 1e-12);
  claim.at_least("sigmoid, both starts 0 (sigmoid 0 = 1/2): they differ", 0.01,
                 apart(Nonlinearity::sigmoid, zero, zero));
}

/// |d h_T / d h_{T-lag}| against (|W|_2 gamma)^lag, for a weight of norm delta/gamma.
Curve jacobian_norms(Claim& claim, const std::string& name, Nonlinearity s, double gamma, double delta) {
  ParamStore store(2);
  Random random(3, "bound " + name);
  Array weight = normal_array({kUnits, kUnits}, random);
  weight *= static_cast<real>(delta / gamma / spectral_norm(weight));
  const Recurrence network(store, store.root(), kUnits, s, weight);
  const std::vector<index_t> lags = {0, 1, 2, 5, 10, 15, 20, 25, 30, 35, 40};
  const std::vector<double> norms =
      state_jacobian_norms(std::cref(network), normal_array({1, kUnits}, random), 40, lags);
  double worst = 0;
  std::vector<double> later, logs;
  for (std::size_t i = 0; i < lags.size(); ++i) {
    const auto lag = static_cast<double>(lags[i]);
    worst = std::max(worst, norms[i] / std::pow(delta, lag));
    if (lag >= 5) later.push_back(lag), logs.push_back(std::log(norms[i]));
  }
  claim.at_most(name + ": largest norm / bound over lags 0..40", 1 + 1e-12, worst);
  claim.at_most(name + ": fitted decay a step, below delta", delta, std::exp(linear_coefficient(later, logs)));
  return {name + " measured", numbers(lags), norms};
}

/// R2. d h_T / d h_0 = prod W diag(s'(h_i)); |d h_T / d h_0| <= (|W|_2 gamma)^T, gamma = max|s'|.
void bound(Report& report) {
  Claim claim(report, {"R2", "The Jacobian through T steps is a product, and its norm at most (|W| gamma)^T.",
                       "|d h_T/d h_0| <= (|W|_2 gamma)^T, gamma = 1 for tanh, 1/4 for sigmoid",
                       "Pascanu, Mikolov, Bengio 2013, section 2.1"});
  ParamStore store(2);
  Random random(report.seed(), "product");
  const Array weight = normal_array({kUnits, kUnits}, random, 0.2), h0 = normal_array({1, kUnits}, random);
  const Recurrence network(store, store.root(), kUnits, Nonlinearity::tanh, weight);
  Array by_hand = diagonal(kUnits, 1);
  Tensor h = h0;
  for (int t = 0; t < 6; ++t) {
    Array factor = weight;  // W diag(1 - tanh^2 h)
    for (std::size_t i = 0; i < kUnits; ++i)
      for (std::size_t j = 0; j < kUnits; ++j) factor(i, j) *= 1 - std::pow(std::tanh(h.value()(0, j)), 2);
    by_hand = product(factor, by_hand);
    h = network(t, h);
  }
  const auto six_steps = [&](const Tensor& start) {
    Tensor state = start;
    for (int t = 0; t < 6; ++t) state = network(t, state);
    return state;
  };
  claim.near("6 steps: largest |tape's Jacobian - product|", 0, largest_difference(jacobian(six_steps, h0), by_hand),
             1e-12);
  const Curve by_tanh = jacobian_norms(claim, "tanh", Nonlinearity::tanh, 1, 0.9);
  const Curve by_sigmoid = jacobian_norms(claim, "sigmoid", Nonlinearity::sigmoid, 0.25, 0.9);
  Curve limit{"bound 0.9^lag", by_tanh.x, {}, true};
  for (double lag : limit.x) limit.y.push_back(std::pow(0.9, lag));
  claim.plot({"Jacobians through time under their bound",
              "lag, steps",
              "spectral norm of d h_T / d h_(T-lag)",
              false,
              true,
              {limit, by_tanh, by_sigmoid}});
  claim.remark(
      "The bound holds and is loose: the norm of a product is far below the product of norms, and tanh is steepest "
      "only "
      "at 0. The fitted decay is what a run shows.");
}

/// R3. |W|_2 > 1/gamma does not suffice: a nilpotent W has W^n = 0.
void explosion(Report& report) {
  Claim claim(report, {"R3", "A norm above 1/gamma is necessary for exploding gradients, not sufficient.",
                       "W strictly upper triangular: every product of n factors W diag(.) is 0",
                       "Pascanu, Mikolov, Bengio 2013, section 2.1; a nilpotent counterexample"});
  Random random(report.seed(), "explosion");
  const std::vector<index_t> lags = {0, 1, 2, 4, 8, 12, 16, 20, 24, 25, 30};
  const auto norms = [&](index_t width, Nonlinearity s, const Array& weight, const Array& bias = {}) {
    ParamStore store(2);
    const Recurrence network(store, store.root(), width, s, weight, bias);
    return state_jacobian_norms(std::cref(network), normal_array({1, width}, random, 0.1), 30, lags);
  };
  Array nilpotent = normal_array({kUnits, kUnits}, random, 1);
  for (std::size_t i = 0; i < kUnits; ++i)
    for (std::size_t j = 0; j <= i; ++j) nilpotent(i, j) = 0;
  const std::vector<double> stops = norms(kUnits, Nonlinearity::tanh, nilpotent);
  claim.at_least("nilpotent, tanh: |W|_2 gamma", 2, spectral_norm(nilpotent));
  claim.equal("nilpotent: Jacobian norm at lag 24", 0, stops[8]);
  claim.wrong_statement("\"|W| > 1/gamma: they will explode\", growth over 30 steps at least 1", 1, stops.back(), 0.5,
                        "necessary, not sufficient; here the gradient is exactly 0");
  const index_t wide = 100;
  const Array gaussian = normal_array({wide, wide}, random, 3 / std::sqrt(static_cast<double>(wide)));
  const std::vector<double> grows = norms(wide, Nonlinearity::tanh, gaussian);
  claim.at_least("Gaussian of gain 3, tanh: norm at lag 30", 1e3, grows.back());
  Array steep = gaussian;
  steep *= 4;
  const std::vector<double> subtract_mean = norms(wide, Nonlinearity::sigmoid, steep, centering_bias(steep));
  const std::vector<double> flat = norms(wide, Nonlinearity::sigmoid, steep);
  claim.at_least("the same of gain 12, sigmoid, b = -W 1/2: norm at lag 30", 1e3, subtract_mean.back());
  claim.at_most("sigmoid of gain 12 without the bias, beside the centered one", 0.1,
                flat.back() / subtract_mean.back());
  Curve zero{"nilpotent (0 from lag 24)", numbers(lags), stops};
  claim.plot({"A norm above 1/gamma need not explode",
              "lag, steps",
              "spectral norm of d h_T / d h_(T-lag)",
              false,
              true,
              {{"Gaussian, gain 3, tanh", numbers(lags), grows},
               {"centered sigmoid, gain 12", numbers(lags), subtract_mean},
               zero}});
}

}  // namespace

void states(Report& report) {
  two_forms(report);
  bound(report);
  explosion(report);
}

}  // namespace xtape::theory
