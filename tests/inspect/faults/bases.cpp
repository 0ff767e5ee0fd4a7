// The healthy models: each with its task, optimizer, length and log interval.
#include "recipe.hpp"

#include <algorithm>

namespace xtape::faults {

namespace {

double cosine_factor(index_t step, index_t steps) {
  return cosine(step, {.warmup = steps / 10, .total = steps, .peak = 1});
}

std::vector<Recipe> perceptrons() {
  const Data images{.task = Task::images};
  const Init he = init::he_normal(), xavier = init::xavier_normal();
  return {{.name = "mlp", .data = images, .method = Method::sgd, .rate = 0.1, .steps = 400},
          {.name = "mlp_adam", .data = images, .net = {.width = 64}, .rate = 3e-3, .steps = 300, .interval = 5},
          {.name = "mlp_short",
           .data = images,
           .method = Method::adamw,
           .rate = 6e-3,
           .steps = 120,
           .interval = 1,
           .validate = 20},
          {.name = "bn",
           .data = images,
           .net = {.layers = 3, .batch_norm = true, .dropout = 0.1},
           .method = Method::adamw,
           .rate = 5e-3,
           .decay = 0.05,
           .schedule = cosine_factor,
           .steps = 300,
           .interval = 20},
          {.name = "bn_sgd",
           .data = images,
           .net = {.batch_norm = true},
           .method = Method::sgd,
           .rate = 0.1,
           .batch = 64,
           .steps = 250},
          {.name = "deep",
           .data = images,
           .net = {.width = 32,
                   .layers = 10,
                   .activation = Activation::tanh,
                   .weight_init = xavier,
                   .bias_init = init::zeros()},
           .rate = 1e-3,
           .steps = 600},
          {.name = "deep_relu",
           .data = images,
           .net = {.width = 32, .layers = 8, .weight_init = he, .bias_init = init::zeros()},
           .rate = 2e-3,
           .steps = 300,
           .interval = 25,
           .clip = 1.0},
          {.name = "deep_sgd",
           .data = images,
           .net = {.width = 32,
                   .layers = 6,
                   .activation = Activation::tanh,
                   .weight_init = xavier,
                   .bias_init = init::zeros()},
           .method = Method::sgd,
           .rate = 0.02,
           .steps = 400,
           .interval = 20}};
}

std::vector<Recipe> plain_recurrent_nets() {
  const Data text{.task = Task::text}, series{.task = Task::series, .time = 32};
  const Data recall{.task = Task::recall, .time = 8};
  const RecurrentInit orthogonal{.recurrent = init::orthogonal()};
  return {{.name = "rnn",
           .data = text,
           .net = {.architecture = Architecture::rnn, .layers = 1},
           .rate = 5e-3,
           .batch = 16,
           .clip = 1.0},
          {.name = "rnn_recall",
           .data = recall,
           .net = {.architecture = Architecture::rnn, .layers = 1, .recurrent_init = orthogonal},
           .rate = 5e-3,
           .steps = 400,
           .interval = 20,
           .clip = 1.0},
          {.name = "rnn_series",
           .data = series,
           .net = {.architecture = Architecture::rnn, .width = 32, .layers = 1},
           .method = Method::sgd,
           .rate = 0.03,
           .steps = 400,
           .interval = 50,
           .clip = 1.0}};
}

std::vector<Recipe> gated_recurrent_nets() {
  const Data text{.task = Task::text}, series{.task = Task::series, .time = 32};
  const Data recall{.task = Task::recall, .time = 12};
  return {{.name = "gru",
           .data = series,
           .net = {.architecture = Architecture::gru, .width = 32, .layers = 1},
           .method = Method::adamw,
           .rate = 5e-3,
           .decay = 0.01,
           .steps = 400,
           .interval = 50,
           .validate = 100},
          {.name = "gru_text",
           .data = text,
           .net = {.architecture = Architecture::gru, .layers = 2},
           .rate = 5e-3,
           .batch = 16,
           .steps = 200,
           .interval = 5,
           .clip = 1.0},
          {.name = "lstm",
           .data = text,
           .net = {.architecture = Architecture::lstm, .layers = 1},
           .rate = 1e-2,
           .schedule = cosine_factor,
           .batch = 16,
           .steps = 250},
          {.name = "lstm_sgd",
           .data = text,
           .net = {.architecture = Architecture::lstm, .layers = 1},
           .method = Method::sgd,
           .rate = 1,
           .batch = 16,
           .steps = 400,
           .interval = 20,
           .clip = 1.0},
          {.name = "lstm_recall",
           .data = recall,
           .net = {.architecture = Architecture::lstm, .width = 32, .layers = 1, .forget_bias = 1.0},
           .rate = 1e-2,
           .steps = 300,
           .interval = 25}};
}

std::vector<Recipe> transformers() {
  const Data text{.task = Task::text}, majority{.task = Task::majority, .time = 12};
  const NetOptions decoder{.architecture = Architecture::decoder, .width = 32, .layers = 2};
  const NetOptions deep_decoder{.architecture = Architecture::decoder, .width = 24, .layers = 4};
  const NetOptions encoder{.architecture = Architecture::encoder, .width = 32, .layers = 1};
  return {{.name = "lm",
           .data = text,
           .net = decoder,
           .method = Method::adamw,
           .rate = 5e-3,
           .beta2 = 0.99,
           .decay = 0.1,
           .schedule = cosine_factor,
           .batch = 16,
           .steps = 250,
           .clip = 1.0},
          {.name = "lm_deep",
           .data = text,
           .net = deep_decoder,
           .method = Method::adamw,
           .rate = 4e-3,
           .beta2 = 0.99,
           .schedule = cosine_factor,
           .batch = 12,
           .steps = 250,
           .interval = 25},
          {.name = "lm_sgd",
           .data = text,
           .net = decoder,
           .method = Method::sgd,
           .rate = 0.1,
           .batch = 16,
           .steps = 400,
           .interval = 20,
           .clip = 1.0},
          {.name = "encoder",
           .data = majority,
           .net = encoder,
           .rate = 2e-3,
           .steps = 200,
           .interval = 20,
           .validate = 40}};
}

const std::vector<Recipe>& all_bases() {
  static const std::vector<Recipe> all = [] {
    std::vector<Recipe> out = perceptrons();
    for (const auto family : {plain_recurrent_nets, gated_recurrent_nets, transformers})
      for (Recipe& recipe : family()) out.push_back(std::move(recipe));
    for (Recipe& recipe : out) recipe.seed = fnv1a(recipe.name) % 1'000'000;
    return out;
  }();
  return all;
}

}  // namespace

Recipe base(const std::string& name) {
  const auto found =
      std::find_if(all_bases().begin(), all_bases().end(), [&](const Recipe& r) { return r.name == name; });
  if (found == all_bases().end()) throw NameError("base", "a model of the bench", name);
  return *found;
}

const std::vector<std::string>& base_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Recipe& recipe : all_bases()) out.push_back(recipe.name);
    return out;
  }();
  return names;
}

}  // namespace xtape::faults
