// An exploding and a vanishing regime, with each remedy and without.
#include "groups.hpp"

namespace xtape::theory {

namespace {

constexpr index_t kSide = 64;
constexpr index_t kLag = 40;

using Step = std::function<Tensor(const Tensor& x, const Tensor& h)>;

/// |d h_T / d h_{T-lag}| of a network that reads small random inputs, for lags 0, 10, 20, 30 and kLag.
std::vector<double> norms(const Step& step, index_t width = kSide) {
  Random random(8, "remedies");
  const Array inputs = normal_array({kLag, kSide}, random, 0.3);
  const auto at = [&](index_t t, const Tensor& h) { return step(slice(Tensor(inputs), 0, t, t + 1), h); };
  return state_jacobian_norms(at, normal_array({1, width}, random, 0.3), kLag, {0, 10, 20, 30, kLag});
}

Array filled(const Init& init) {
  Random random(9, "weight");
  Array out = empty_array({kSide, kSide});
  init(out, random);
  return out;
}

Array gaussian(double gain) { return filled(init::normal(0, gain / std::sqrt(static_cast<double>(kSide)))); }

Step vanilla(const Array& weight, Tensor (*s)(const Tensor&)) {
  return [weight, s](const Tensor& x, const Tensor& h) { return s(x + linear(h, weight)); };
}

Step normalized(const Array& weight) {
  return [weight](const Tensor& x, const Tensor& h) { return tanh(layer_norm(x + linear(h, weight))); };
}

/// An LSTM whose state is h and c side by side; `weight` for each gate.
Step gated(const Array& weight, double forget_bias) {
  const Tensor all = concat({weight, weight, weight, weight}, 0);
  const Tensor inputs = concat({diagonal(kSide, 1), Tensor::zeros({2 * kSide, kSide}), diagonal(kSide, 1)}, 0);
  Array bias = Tensor::zeros({4 * kSide}).value();
  std::fill_n(bias.data() + kSide, kSide, static_cast<real>(forget_bias));
  return [=](const Tensor& x, const Tensor& state) {
    const auto parts = split(state, kSide, 1);
    const LstmStep next = lstm_cell(x, parts[0], parts[1], {inputs, all, bias, {}});
    return concat({next.h, next.c}, 1);
  };
}

/// Norm of a gradient over kLag steps before and after clipping to 1, and of its part at the first step.
struct Clipped {
  double before, after, first_share_before, first_share_after;
};
Clipped clipped(const Array& weight) {
  Random random(8, "clipping");
  Parameter recurrent("weight", weight), start("start", normal_array({1, kSide}, random, 0.3));
  Tape tape;
  Tensor h = start;
  for (index_t t = 0; t < kLag; ++t) h = tanh(linear(h, recurrent) + Tensor(normal_array({1, kSide}, random, 0.3)));
  tape.backward(sum(h));
  const auto share = [&] { return norm_of(start.grad()) / norm_of(recurrent.grad()); };
  Clipped out{0, 0, share(), 0};
  out.before = clip_grad_norm({recurrent, start}, 1);
  out.after = std::hypot(norm_of(recurrent.grad()), norm_of(start.grad()));
  out.first_share_after = share();
  return out;
}

void clipping(Claim& claim) {
  const Clipped explodes = clipped(gaussian(3)), vanishes = clipped(gaussian(0.5));
  claim.at_least("exploding, none: gradient norm", 10, explodes.before);
  claim.near("exploding, clipped to 1: gradient norm", 1, explodes.after, 1e-12);
  claim.relative("vanishing, clipped: first step's share of the gradient is as before", vanishes.first_share_before,
                 vanishes.first_share_after, 1e-12);
}

}  // namespace

/// R6. Clipping bounds the norm of a gradient but does not change its direction; the other remedies change the factor
/// by which each step multiplies it.
void remedies(Report& report) {
  Claim claim(report, {"R6", "Clipping helps against explosion only; gates, initial values and LayerNorm against both.",
                       "norm at lag 40 of d h_T/d h_(T-lag)",
                       "Pascanu et al. 2013; Saxe et al. 2014; Glorot, Bengio 2010; He et al. 2015; Ba et al. 2016"});
  clipping(claim);
  Plot plot{"Two regimes and their remedies", "lag, steps", "spectral norm of d h_T / d h_(T-lag)", false, true, {}};
  const auto at_lag = [&](const std::string& name, const std::vector<double>& course) {
    plot.curves.push_back({name, {0, 10, 20, 30, kLag}, course});
    return course.back();
  };
  const double explodes = at_lag("gain 3, none", norms(vanilla(gaussian(3), tanh)));
  const double vanishes = at_lag("gain 0.5, none", norms(vanilla(gaussian(0.5), tanh)));
  claim.at_least("exploding (gain 3, tanh): norm at lag 40", 1e3, explodes);
  claim.at_most("vanishing (gain 0.5, tanh)", 1e-10, vanishes);
  claim.at_least("orthogonal start", 1e-4, at_lag("orthogonal", norms(vanilla(filled(init::orthogonal()), tanh))));
  claim.at_least("Xavier start, beside none", 1e4,
                 at_lag("Xavier", norms(vanilla(filled(init::xavier_normal()), tanh))) / vanishes);
  claim.factor("LayerNorm at gain 3", 1, at_lag("LayerNorm, gain 3", norms(normalized(gaussian(3)))), 100);
  claim.at_least("LayerNorm at gain 0.5, beside none", 1e4,
                 at_lag("LayerNorm, gain 0.5", norms(normalized(gaussian(0.5)))) / vanishes);
  claim.at_least("LSTM, forget bias 4, weights of gain 0.5", 0.1,
                 at_lag("LSTM, gain 0.5", norms(gated(gaussian(0.5), 4), 2 * kSide)));
  claim.plot(std::move(plot));
  const auto a_step = [](const Init& start) {
    return std::pow(norms(vanilla(filled(start), relu)).back(), 1.0 / kLag);
  };
  claim.near("ReLU, He's start: factor a step", 1, a_step(init::he_normal()), 0.25);
  claim.near("ReLU, Xavier's start: factor a step, 1/sqrt(2)", std::sqrt(0.5), a_step(init::xavier_normal()), 0.15);
}

}  // namespace xtape::theory
