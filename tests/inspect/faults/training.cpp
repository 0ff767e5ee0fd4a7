// The training loop of the bench, as a script would have it, with the places where faults go in.
#include "recipe.hpp"

#include <algorithm>
#include <cmath>

namespace xtape::faults {

namespace {

constexpr index_t kValidationExamples = 128;

double median_of(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::unique_ptr<Optimizer> optimizer_of(const Recipe& recipe, ParamStore& store) {
  std::vector<ParamGroup> groups = recipe.groups ? recipe.groups(store) : decay_groups(store, recipe.decay);
  switch (recipe.method) {
    case Method::sgd:
      return std::make_unique<SGD>(std::move(groups), SgdOptions{.momentum = recipe.momentum});
    case Method::averaged_sgd:
      return std::make_unique<AveragedSGD>(std::move(groups), AveragedSgdOptions{.beta = recipe.momentum});
    case Method::adam:
      return std::make_unique<Adam>(std::move(groups), AdamOptions{.beta1 = recipe.momentum, .beta2 = recipe.beta2});
    case Method::adamw:
      break;
  }
  return std::make_unique<AdamW>(std::move(groups), AdamOptions{.beta1 = recipe.momentum, .beta2 = recipe.beta2});
}

Tensor loss_of(const Recipe& recipe, const Tensor& logits, const Batch& batch) {
  if (recipe.data.task == Task::series) return mse_loss(logits, Tensor(batch.values));
  return cross_entropy(logits, batch.targets);
}

class Training {
 public:
  Training(const Recipe& recipe, const std::string& directory)
      : recipe_(recipe), store_(recipe.seed), net_(make_net(store_.root(), recipe.net, recipe.data)) {
    if (recipe.prepare) recipe.prepare(store_);
    optimizer_ = optimizer_of(recipe, store_);
    log_.emplace(RunDescription{.program = recipe.name,
                                .seed = recipe.seed,
                                .steps = recipe.steps,
                                .directory = directory,
                                .on_trouble = recipe.on_trouble,
                                .detect_anomaly = recipe.detect_anomaly},
                 store_, RunLogOptions{.interval = recipe.interval, .console = false});
    first_weights_ = store_.snapshot();
  }

  void run(Outcome& out) {
    for (index_t step = 0; step < recipe_.steps; ++step) make_step(step, out);
    log_->finish();
  }

  void summarize(Outcome& out) const {
    const std::size_t tenth = std::max<std::size_t>(1, losses_.size() / 10);
    if (losses_.empty()) return;
    out.first = median_of({losses_.begin(), losses_.begin() + static_cast<std::ptrdiff_t>(tenth)});
    out.last = median_of({losses_.end() - static_cast<std::ptrdiff_t>(tenth), losses_.end()});
    out.best = *std::min_element(losses_.begin(), losses_.end());
    out.highest = *std::max_element(losses_.begin(), losses_.end());
    for (const auto& [name, before] : first_weights_.parameters) {
      double change = 0, size = 0;
      const Array& now = store_.parameter(name).value();
      for (std::size_t i = 0; i < now.size(); ++i) {
        change += std::pow(static_cast<double>(now.data()[i]) - static_cast<double>(before.data()[i]), 2);
        size += std::pow(static_cast<double>(before.data()[i]), 2);
      }
      out.moved[name] = size > 0 ? std::sqrt(change / size) : std::sqrt(change);
    }
  }

 private:
  void make_step(index_t step, Outcome& out) {
    if (recipe_.eval_from && step >= *recipe_.eval_from) store_.eval();
    Batch batch = train_batch(recipe_.data, recipe_.same_batch ? 0 : step, recipe_.batch);
    if (recipe_.change_batch) recipe_.change_batch(batch, step);
    Tape tape;
    const Tensor logits = (*net_)(batch, recipe_.middle, step);
    const Tensor loss = recipe_.own_loss ? recipe_.own_loss(logits, batch, step) : loss_of(recipe_, logits, batch);
    if (recipe_.runs_backward) tape.backward(loss);
    StepMetrics metrics{.loss = static_cast<double>(loss.item()), .lr = rate_of(step), .tokens = recipe_.batch};
    const double norm = clip_grad_norm(store_, recipe_.clip.value_or(INFINITY));
    metrics.grad_norm = norm;
    if (recipe_.validate > 0 && (step % recipe_.validate == 0 || step + 1 == recipe_.steps))
      metrics.validation_loss = validate(step, out);
    const bool accepted = log_->accepts(step, metrics.loss, norm);
    if (accepted && recipe_.steps_optimizer) out.updates += optimizer_->step(metrics.lr);
    log_->step(step, metrics, *optimizer_);
    if (recipe_.clears_gradients) store_.zero_grad();
    note(metrics.loss, norm, out);
  }

  double rate_of(index_t step) const {
    return recipe_.rate * (recipe_.schedule ? recipe_.schedule(step, recipe_.steps) : 1);
  }

  void note(double loss, double norm, Outcome& out) {
    if (std::isfinite(loss) && std::isfinite(norm)) {
      losses_.push_back(loss);
      out.highest_norm = std::max(out.highest_norm, norm);
    } else {
      ++out.nonfinite;
    }
  }

  double validate(index_t step, Outcome& out) {
    const bool training = store_.training();
    store_.eval();
    Batch batch = validation_batch(recipe_.data, kValidationExamples);
    if (recipe_.change_validation) recipe_.change_validation(batch, step);
    const double loss = static_cast<double>(loss_of(recipe_, (*net_)(batch, {}, -1), batch).item());
    if (training) store_.train();
    if (!out.validation_best || loss < *out.validation_best) {
      out.validation_best = loss;
      out.validation_best_step = step;
    }
    out.validation_last = loss;
    return loss;
  }

  const Recipe& recipe_;
  ParamStore store_;
  std::unique_ptr<Net> net_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<RunLog> log_;
  Snapshot first_weights_;
  std::vector<double> losses_;  // the finite ones
};

}  // namespace

Outcome train(const Recipe& recipe, const std::string& directory) {
  Outcome out;
  std::optional<Training> training;
  try {
    training.emplace(recipe, directory);
    training->run(out);
  } catch (const Error& error) {
    out.refused = error.what();
  }
  if (training) training->summarize(out);
  return out;
}

}  // namespace xtape::faults
