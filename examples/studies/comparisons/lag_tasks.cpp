#include "lag_tasks.hpp"

#include <cmath>
#include <limits>
#include <memory>

namespace xtape::examples {

namespace {

constexpr index_t kValidationBatches = 8, kValidationBatch = 64;
constexpr double kNearSum = 0.1;

Example example_of(const AddingBatch& batch) {
  const index_t rows = std::ssize(batch.targets);
  Array values = empty_array({rows, std::ssize(batch.inputs) / rows / 2, 2}), sums = empty_array({rows});
  std::copy(batch.inputs.begin(), batch.inputs.end(), values.begin());
  std::copy(batch.targets.begin(), batch.targets.end(), sums.begin());
  return {.values = std::move(values), .sums = std::move(sums), .lags = batch.lags};
}

Example example_of(LagBatch batch) {
  return {.ids = std::move(batch.inputs), .targets = std::move(batch.targets), .lags = std::move(batch.lags)};
}

Example example_of(Batch batch) { return {.ids = std::move(batch.inputs), .targets = std::move(batch.targets)}; }

/// Fills in the validation sequences; no training step uses them.
LagTask with_fresh_validation(LagTask task) {
  for (index_t i = 0; i < kValidationBatches; ++i)
    task.validation.push_back(task.train(kFreshStep + i, kValidationBatch));
  return task;
}

LagTask text_task(index_t steps, std::uint64_t seed, const std::string& file) {
  const auto text = std::make_shared<const TextData>(load_text(file, {.context = steps, .seed = seed}));
  LagTask out{.vocab = text->vocab(), .outputs = text->vocab(), .steps = steps};
  out.know_nothing = std::log(static_cast<double>(text->vocab()));
  out.train = [text](index_t step, index_t batch) { return example_of(text->train_batch(step, batch)); };
  for (Batch& batch : text->validation_batches(kValidationBatch, kValidationBatches * kValidationBatch))
    out.validation.push_back(example_of(std::move(batch)));
  return out;
}

index_t last_step(const Tensor& outputs) { return outputs.size(1) - 1; }

/// The single output of the last step, [B].
Tensor last_number(const Tensor& outputs) { return reshape(slice(outputs, 1, last_step(outputs)), {-1}); }

}  // namespace

LagTask lag_task(const std::string& name, index_t steps, std::uint64_t seed, const std::string& text_file) {
  if (name == "text") return text_task(steps, seed, text_file);
  if (name == "adding")
    return with_fresh_validation(
        {.inputs = 2, .steps = steps, .know_nothing = 1.0 / 6, .train = [=](index_t step, index_t batch) {
           return example_of(adding_batch(step, batch, {.steps = steps, .seed = seed}));
         }});
  if (name == "copy") {
    CopyOptions o = {.seed = seed};
    o.longest = steps - o.length;
    return with_fresh_validation(
        {.vocab = o.vocab(),
         .outputs = o.symbols,
         .steps = steps,
         .know_nothing = std::log(static_cast<double>(o.symbols)),
         .train = [o](index_t step, index_t batch) { return example_of(copy_batch(step, batch, o)); }});
  }
  if (name == "recall") {
    const RecallOptions o = {.steps = steps, .seed = seed};
    return with_fresh_validation(
        {.vocab = o.vocab(),
         .outputs = o.values,
         .steps = steps,
         .know_nothing = std::log(static_cast<double>(o.values)),
         .train = [o](index_t step, index_t batch) { return example_of(recall_batch(step, batch, o)); }});
  }
  throw ValueError("lag_task", "there is no task '" + name + "'");
}

Tensor loss_of(const Tensor& outputs, const Example& example) {
  if (example.sums.defined()) return mse_loss(last_number(outputs), example.sums);
  return cross_entropy(outputs, example.targets);
}

Tensor last_loss_of(const Tensor& outputs, const Example& example) {
  if (example.sums.defined()) return loss_of(outputs, example);
  const index_t last = last_step(outputs);
  IndexArray targets = empty_array<IndexArray>({shape_of(example.targets)[0], 1});
  for (std::size_t b = 0; b < targets.size(); ++b) targets(b, 0) = example.targets(b, last);
  return cross_entropy(slice(outputs, 1, last), targets);
}

std::vector<double> right_answers(const Tensor& outputs, const Example& example) {
  std::vector<double> out;
  if (example.sums.defined()) {
    const Tensor guesses = last_number(outputs);
    for (index_t b = 0; b < guesses.numel(); ++b)
      out.push_back(std::abs(guesses.data()[b] - example.sums.data()[b]) < kNearSum ? 1 : 0);
    return out;
  }
  const IndexArray guesses = argmax(outputs, -1);
  for (std::size_t b = 0; b < guesses.shape()[0]; ++b) {
    double right = 0, asked = 0;
    for (std::size_t t = 0; t < guesses.shape()[1]; ++t) {
      if (example.targets(b, t) == kNotAsked) continue;
      const auto guess = static_cast<std::size_t>(guesses(b, t));  // of a network of NaN none is right
      right += guesses(b, t) == example.targets(b, t) && std::isfinite(outputs.value()(b, t, guess));
      ++asked;
    }
    out.push_back(right / asked);
  }
  return out;
}

std::vector<double> means_by_lag(const std::vector<double>& values, const std::vector<index_t>& lags, index_t longest,
                                 index_t parts) {
  std::vector<double> sums(static_cast<std::size_t>(parts)), counts(sums.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto part = static_cast<std::size_t>((lags[i] - 1) * parts / longest);
    sums.at(part) += values[i];
    ++counts[part];
  }
  for (std::size_t part = 0; part < sums.size(); ++part)
    sums[part] = counts[part] > 0 ? sums[part] / counts[part] : std::numeric_limits<double>::quiet_NaN();
  return sums;
}

}  // namespace xtape::examples
