// A task with a long lag: the first input is the class that is asked for after the last one.
#include "groups.hpp"

namespace xtape::theory {

namespace {

constexpr index_t kClasses = 4, kInputs = kClasses + 2, kHidden = 32;

struct Recall {
  Array inputs;        ///< [B, T, kInputs]: the class at the first step, noise at the others
  IndexArray targets;  ///< [B]
};

Recall recall(index_t batch, index_t time, Random& random) {
  Recall out{Tensor::zeros({batch, time, kInputs}).value(), empty_array<IndexArray>({batch})};
  for (index_t b = 0; b < batch; ++b) {
    const index_t target = random.below(kClasses);
    out.targets(b) = target;
    out.inputs(b, 0, static_cast<std::size_t>(target)) = 1;
    for (index_t t = 1; t < time; ++t) out.inputs(b, t, kClasses) = static_cast<real>(random.normal());
    out.inputs(b, time - 1, kClasses + 1) = 1;  // asks for the answer
  }
  return out;
}

/// States [B, T, kHidden] of inputs.
using Network = std::function<Tensor(const Tensor& x)>;

Network network(const std::string& kind, const Scope& scope, double forget_bias) {
  if (kind == "LSTM")
    return [layer = std::make_shared<LSTM>(scope, kInputs, kHidden, LSTMOptions{.forget_bias = forget_bias})](
               const Tensor& x) { return (*layer)(x).y; };
  if (kind == "GRU")
    return [layer = std::make_shared<GRU>(scope, kInputs, kHidden)](const Tensor& x) { return (*layer)(x).y; };
  if (kind == "RNN")
    return [layer = std::make_shared<RNN>(scope, kInputs, kHidden)](const Tensor& x) { return (*layer)(x).y; };
  return [layer = std::make_shared<AttentionRNN>(scope, kInputs, kHidden)](const Tensor& x) { return (*layer)(x); };
}

/// Norm of the loss's gradient to the input at each lag, untrained.
Curve gradient_by_lag(const std::string& kind, const std::string& name, double forget_bias, const Recall& data) {
  ParamStore store(10);
  const Network layer = network(kind, store.root() / "layer", forget_bias);
  const Linear head(store.root() / "head", kHidden, kClasses);
  Tape tape;
  const Tensor x = tape.variable(data.inputs);
  const auto time = static_cast<index_t>(data.inputs.shape(1));
  tape.backward(cross_entropy(head(squeeze(slice(layer(x), 1, time - 1), {1})), data.targets));
  const Array grad = norm(Tensor(tape.grad(x)), {0, 2}).value();
  Curve out{name, {}, {}};
  for (index_t lag = 0; lag < time; ++lag) {
    out.x.push_back(static_cast<double>(lag));
    out.y.push_back(grad(static_cast<std::size_t>(time - 1 - lag)));
  }
  return out;
}

/// Right answers in percent on new sequences after training.
double accuracy(const std::string& kind, index_t steps, index_t time) {
  ParamStore store(11);
  const Network layer = network(kind, store.root() / "layer", 1);
  const Linear head(store.root() / "head", kHidden, kClasses);
  Adam opt(all_parameters(store), {});
  Random random(12, "recall");
  const auto answer = [&](const Recall& data) { return head(squeeze(slice(layer(data.inputs), 1, time - 1), {1})); };
  for (index_t step = 0; step < steps; ++step) {
    const Recall data = recall(16, time, random);
    Tape tape;
    tape.backward(cross_entropy(answer(data), data.targets));
    clip_grad_norm(store, 1);
    opt.step(5e-3);
    store.zero_grad();
  }
  const Recall data = recall(500, time, random);
  const std::vector<index_t> said = most_likely_of_rows(answer(data));
  double right = 0;
  for (std::size_t b = 0; b < said.size(); ++b) right += said[b] == data.targets(b);
  return right / 5;
}

/// R5 on a task: gradients of RNN, GRU, LSTM at the start of training.
std::vector<Curve> long_lag(Report& report, const Recall& data, double longest) {
  Claim claim(report, {"R5", "On a task of long lag the first step's gradient survives in an LSTM of high forget bias.",
                       "|dL/dx_(T-lag)|, loss after the last of T = 100 steps",
                       "Hochreiter, Schmidhuber 1997; Jozefowicz, Zaremba, Sutskever 2015"});
  std::vector<Curve> curves = {gradient_by_lag("RNN", "RNN", 0, data), gradient_by_lag("GRU", "GRU", 0, data),
                               gradient_by_lag("LSTM", "LSTM, forget bias 0", 0, data),
                               gradient_by_lag("LSTM", "LSTM, forget bias 1", 1, data),
                               gradient_by_lag("LSTM", "LSTM, forget bias ln T", std::log(longest), data)};
  const auto kept = [&](std::size_t i) { return curves[i].y.back() / curves[i].y.front(); };
  claim.at_most("RNN: gradient at lag 99 / at lag 0", 1e-15, kept(0));
  claim.at_most("GRU", 1e-5, kept(1));
  claim.at_most("LSTM, forget bias 0 (s(0)^99 = 1.6e-30)", 1e-10, kept(2));
  claim.at_least("LSTM, forget bias 1, beside the plain network", 1e3, kept(3) / kept(0));
  claim.at_least("LSTM, forget bias ln T = 4.6 (s(4.6)^99 = 0.37)", 1e-3, kept(4));
  claim.plot({"Gradients through time at the start of training", "lag, steps", "norm of dL/dx at this lag", false, true,
              curves});
  return curves;
}

}  // namespace

/// R7. h~_t = RNN(x_t, h_{t-1}) is the query, a_t = sum_{j<t} alpha_tj h_j, h_t = h~_t + a_t.
void look_back(Report& report) {
  Random random(report.seed(), "long lag");
  const Recall data = recall(8, 100, random);
  const std::vector<Curve> others = long_lag(report, data, 100);
  Claim claim(report, {"R7", "A network that attends to its own past passes gradients back in one step.",
                       "h_t = h~_t + sum_{j<t} alpha_tj h_j, with h~_t as the query (not h_t itself, "
                       "which does not exist yet)",
                       "Bahdanau, Cho, Bengio 2015, applied to the network's own states"});
  const Curve attends = gradient_by_lag("attention", "attention RNN", 0, data);
  claim.at_least("gradient at lag 99, beside the plain network", 1e6, attends.y.back() / others[0].y.back());
  const index_t time = 80;
  claim.at_most("recall over 80 steps, plain network: % right (25 by chance)", 60,
                accuracy("RNN", report.steps(), time));
  claim.at_least("recall over 80 steps, attention: % right", 95, accuracy("attention", report.steps(), time));
  claim.plot({"One step back to every state",
              "lag, steps",
              "norm of dL/dx at this lag",
              false,
              true,
              {others[0], others[4], attends}});
}

}  // namespace xtape::theory
