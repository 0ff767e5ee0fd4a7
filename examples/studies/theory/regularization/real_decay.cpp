// Effective decay of the weights of a language model, by the size of their gradients.
#include "groups.hpp"

namespace xtape::theory {

namespace {

constexpr index_t kContext = 32, kBatch = 8;

/// A model warmed up for some steps, to branch off from.
struct Branches {
  TextData text;
  ParamStore store;
  TransformerLM model;
  Snapshot warm;
  OptimizerState moments;  ///< Adam's at the branch

  Branches(const std::string& content, std::uint64_t seed)
      : text(content, {.context = kContext, .seed = seed}),
        store(seed),
        model(store.root(), {.vocab = text.vocab(), .context = kContext, .width = 32, .heads = 2, .layers = 2}) {}

  void step(Optimizer& opt, index_t number, double lr) {
    const Batch batch = text.train_batch(number, kBatch);
    Tape tape;
    tape.backward(cross_entropy(model(batch.inputs), batch.targets));
    opt.step(lr);
    store.zero_grad();
  }
};

constexpr double kRate = 1e-6;  // so small that decay does not change the gradients

/// Goes on from the branch for some steps at kRate; the weights after them.
template <class Opt>
Snapshot branch(Branches& at, double decay, index_t first, index_t steps, OptimizerState* moments = nullptr) {
  at.store.restore(at.warm);
  Opt opt(all_parameters(at.store, decay), {.beta1 = 0, .beta2 = 0.999});
  OptimizerState state = at.moments;
  state.optimizer = opt.name();
  opt.load_state(state);
  for (index_t i = 0; i < steps; ++i) at.step(opt, first + i, kRate);
  if (moments) *moments = opt.state();
  return at.store.snapshot();
}

/// sqrt(v) and the rate of decay / (eta lambda) of every weight that is not small.
struct Measured {
  std::vector<double> root, rate;
};
Measured rates(const Branches& at, const Snapshot& with, const Snapshot& without, const OptimizerState& moments,
               double decay, index_t steps) {
  Measured out;
  const double correction = 1 - std::pow(0.999, static_cast<double>(moments.parameters.begin()->second.steps));
  for (std::size_t p = 0; p < at.warm.parameters.size(); ++p) {
    const auto& [name, before] = at.warm.parameters[p];
    const Array& v = moments.parameters.at(name).slots.at("exp_avg_sq");
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double w = before.data()[i], root = std::sqrt(v.data()[i] / correction);
      if (std::abs(w) < 0.02 || root == 0) continue;
      const double moved = without.parameters[p].second.data()[i] - with.parameters[p].second.data()[i];
      out.root.push_back(root);
      out.rate.push_back(moved / w / (kRate * decay * static_cast<double>(steps)));
    }
  }
  return out;
}

/// Medians of ten bins of equally many weights, by sqrt(v).
Curve binned(const std::string& name, const Measured& measured) {
  std::vector<std::size_t> order(measured.root.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return measured.root[a] < measured.root[b]; });
  Curve out{name, {}, {}, false, true};
  for (std::size_t bin = 0; bin < 10; ++bin) {
    std::vector<double> roots, values;
    for (std::size_t i = bin * order.size() / 10; i < (bin + 1) * order.size() / 10; ++i)
      roots.push_back(measured.root[order[i]]), values.push_back(measured.rate[order[i]]);
    out.x.push_back(median_of(roots)), out.y.push_back(median_of(values));
  }
  return out;
}

}  // namespace

/// W3 on a real model: runs with and without decay from one state over the same batches, apart by the decay alone.
void real_decay(Report& report) {
  Claim claim(report,
              {"W3", "On a language model: effective decay falls like 1/sqrt(v) under Adam-L2, not under AdamW.",
               "(w without decay - w with decay) / (eta lambda w steps), binned by sqrt(v)",
               "Loshchilov, Hutter 2019, section 3"});
  Branches at(report.text(), report.seed());
  const index_t warm = report.steps(), steps = 40;
  Adam opt(all_parameters(at.store), {.beta1 = 0, .beta2 = 0.999});
  for (index_t i = 0; i < warm; ++i) at.step(opt, i, 1e-3);
  at.warm = at.store.snapshot();
  at.moments = opt.state();
  const double lambda = 1e-6;  // far below the gradients: v stays that of the gradients
  OptimizerState moments;
  const Snapshot none = branch<Adam>(at, 0, warm, steps, &moments);
  const Curve l2 = binned("Adam-L2", rates(at, branch<Adam>(at, lambda, warm, steps), none, moments, lambda, steps));
  const Curve decoupled = binned("AdamW", rates(at, branch<AdamW>(at, lambda, warm, steps),
                                                branch<AdamW>(at, 0, warm, steps), moments, lambda, steps));
  claim.near("Adam-L2: exponent of the decay over sqrt(v), ten bins", -1, exponent_of(l2.x, l2.y), 0.15);
  claim.near("AdamW: exponent", 0, exponent_of(decoupled.x, decoupled.y), 0.02);
  claim.factor("Adam-L2: decay in the bin of the largest gradients, times sqrt(v)", 1, l2.y.back() * l2.x.back(), 1.5);
  claim.near("AdamW: decay in that bin", 1, decoupled.y.back(), 0.05);
  Curve law{"1 / sqrt(v)", l2.x, {}, true}, flat{"1", l2.x, std::vector<double>(l2.x.size(), 1), true};
  for (double root : law.x) law.y.push_back(1 / root);
  claim.plot({"Effective decay of a language model's weights",
              "sqrt(v)",
              "decay / (eta lambda)",
              true,
              true,
              {law, flat, l2, decoupled}});
}

}  // namespace xtape::theory
