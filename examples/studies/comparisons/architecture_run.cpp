#include "architecture_run.hpp"

#include <xtape/inspect/measure/jacobian.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace xtape::examples {

namespace {

constexpr double kUsualClip = 1;  ///< norms above it count as clipped, also in runs without clipping

Tensor embedded(const SequenceNetwork& network, const Example& example) {
  return example.values.defined() ? network.embed(example.values) : network.embed(example.ids);
}

/// Loss and right answers over the validation batches.
void measure_answers(const SequenceNetwork& network, const LagTask& task, Results& results) {
  double loss = 0;
  std::vector<double> right;
  std::vector<index_t> lags;
  for (const Example& example : task.validation) {
    const Tensor outputs = network(embedded(network, example));
    loss += static_cast<double>(loss_of(outputs, example).item());
    const std::vector<double> answers = right_answers(outputs, example);
    right.insert(right.end(), answers.begin(), answers.end());
    lags.insert(lags.end(), example.lags.begin(), example.lags.end());
  }
  double sum = 0;
  for (double r : right) sum += r;
  results["validation_loss"] = {loss / static_cast<double>(task.validation.size())};
  results["accuracy"] = {sum / static_cast<double>(right.size())};
  if (!lags.empty())
    results["accuracy_by_lag"] = means_by_lag(right, lags, *std::max_element(lags.begin(), lags.end()), kLagParts);
}

/// Norms of the gradient of the last step's loss, over the batch, by lag.
void measure_gradient(const SequenceNetwork& network, const Example& example, ParamStore& store, const char* when,
                      Results& results) {
  const std::string suffix = std::string("_") + when;
  Tape tape({.record_step_norms = true});
  const Tensor x = tape.variable(embedded(network, example).value());
  tape.backward(last_loss_of(network(x), example));
  const Array grad = tape.grad(x);
  store.zero_grad();
  const std::size_t batch = grad.shape()[0], steps = grad.shape()[1], width = grad.shape()[2];
  std::vector<double>& by_lag = results["input_gradient" + suffix];
  for (std::size_t lag = 0; lag < steps; ++lag) {
    double squares = 0;
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t c = 0; c < width; ++c) squares += std::pow(static_cast<double>(grad(b, steps - 1 - lag, c)), 2);
    by_lag.push_back(std::sqrt(squares));
  }
  if (const Parameter* recurrent = network.vanilla_recurrent()) {
    std::vector<double>& hidden = results["hidden_gradient" + suffix];
    for (const GradNorm& seen : tape.grad_norms())  // from the last step to the first
      if (seen.stream == "hidden") hidden.push_back(seen.norm);
    const bool finite =
        std::all_of(recurrent->value().begin(), recurrent->value().end(), [](real w) { return std::isfinite(w); });
    const double spectral = finite ? spectral_norm(recurrent->value()) : std::nan("");
    results["spectral_norm" + suffix] = {spectral};
    for (std::size_t lag = 0; lag < hidden.size(); ++lag)
      results["hidden_bound" + suffix].push_back(hidden.front() * std::pow(spectral, static_cast<double>(lag)));
  }
}

}  // namespace

Results train_sequence_network(const std::vector<std::string>& arguments) {
  Args args("gradient_flow", "Trains one network of the comparison.", {.steps = 1200});
  const auto task_name = args.choice("task", {"adding", "copy", "recall", "text"}, "recall", "what is to be learned");
  const auto text = args.text("text", "kjv.txt", "text of the task 'text'");
  const auto length = args.integer("length", 100, {8, 4096}, "steps of a sequence");
  const auto batch = args.integer("batch", 32, {1, 4096}, "sequences in a step");
  const auto model = args.choice("model", architecture_names(), "rnn", "architecture");
  const auto width = args.integer("width", 64, {1, 4096}, "width of a state");
  const auto layers = args.integer("layers", 1, {1, 64}, "recurrent layers, or transformer blocks");
  const auto start = args.choice("init", init_names(), "default", "initial values between input and output layer");
  const auto layer_norm = args.flag("layer-norm", "normalize inside the recurrence");
  const auto clip = args.number("clip", kUsualClip, {0, 1000}, "largest joint norm of the gradients; 0: no clipping");
  const auto lr = args.number("lr", 3e-3, {0, 1}, "learning rate after 50 steps of warm-up; then it falls to 0");
  const auto interval = args.integer("log-interval", 50, {1, 1'000'000}, "steps from one line to the next");
  std::vector<const char*> argv = {"gradient_flow"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  args.parse(static_cast<int>(argv.size()), argv.data());

  const LagTask task = lag_task(*task_name, length, args.seed(), text);
  ParamStore store(args.seed());
  const SequenceNetwork network(store.root(), {.architecture = model,
                                               .vocab = task.vocab,
                                               .inputs = task.inputs,
                                               .outputs = task.outputs,
                                               .steps = task.steps,
                                               .width = width,
                                               .layers = layers,
                                               .init = start,
                                               .layer_norm = layer_norm});
  Results results = {{"know_nothing", {task.know_nothing}}};
  measure_gradient(network, task.validation.front(), store, "first", results);

  Adam opt(all_parameters(store), {.beta2 = 0.99});
  RunLog log(args, store, {.interval = interval});
  const double limit = clip == 0 ? std::numeric_limits<double>::infinity() : *clip;
  double clipped = 0, largest = 0;
  for (index_t step = 0; step < args.steps(); ++step) {
    const Example example = task.train(step, batch);
    Tape tape;
    const Tensor loss = loss_of(network(embedded(network, example)), example);
    tape.backward(loss);
    const double norm = clip_grad_norm(store, limit);
    clipped += !(norm <= (clip == 0 ? kUsualClip : *clip));
    largest = std::max(largest, norm);
    const double rate = cosine(step, {.warmup = 50, .total = args.steps(), .peak = lr});
    if (log.accepts(step, loss.item(), norm)) opt.step(rate);
    log.step(step, {.loss = loss.item(), .lr = rate, .grad_norm = norm, .tokens = batch * task.steps}, opt);
    store.zero_grad();
  }
  log.finish();

  measure_answers(network, task, results);
  measure_gradient(network, task.validation.front(), store, "last", results);
  results["clipped"] = {clipped / static_cast<double>(args.steps())};
  results["largest_norm"] = {largest};
  return results;
}

}  // namespace xtape::examples
