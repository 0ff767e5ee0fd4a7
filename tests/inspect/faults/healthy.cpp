// Trainings without a fault: they work well and really learn.
#include "recipe.hpp"

#include <map>

namespace xtape::faults {

namespace {

using Change = std::function<void(Recipe& recipe)>;

double warm_cosine(index_t step, index_t steps) {
  return cosine(step, {.warmup = steps / 10, .total = steps, .peak = 1});
}

/// Variants by name; the empty one is the base.
const std::map<std::string, Change>& variants() {
  static const std::map<std::string, Change> all = {
      {"", [](Recipe&) {}},
      {"seed2", [](Recipe& r) { r.data.seed = 2; }},
      {"seed3", [](Recipe& r) { r.data.seed = 3; }},
      {"clip", [](Recipe& r) { r.clip = 1.0; }},
      {"clip_half", [](Recipe& r) { r.clip = 0.5; }},
      {"no_clip", [](Recipe& r) { r.clip = {}; }},
      {"cosine", [](Recipe& r) { r.schedule = warm_cosine; }},
      {"constant", [](Recipe& r) { r.schedule = {}; }},
      {"one_cycle",
       [](Recipe& r) {
         r.schedule = [](index_t step, index_t steps) { return one_cycle(step, {.total = steps, .peak = 1}); };
       }},
      {"steps_down",
       [](Recipe& r) {
         r.schedule = [](index_t step, index_t steps) {
           return step_decay(step, {.every = steps / 3, .peak = 1, .factor = 0.3});
         };
       }},
      {"few_lines", [](Recipe& r) { r.interval = r.steps / 6, r.validate = 0; }},
      {"every_step", [](Recipe& r) { r.interval = 1; }},
      {"wide", [](Recipe& r) { r.net.width *= 2; }},
      {"narrow", [](Recipe& r) { r.net.width /= 2; }},
      {"two_layers", [](Recipe& r) { r.net.layers = 2; }},
      {"one_layer", [](Recipe& r) { r.net.layers = 1; }},
      {"long", [](Recipe& r) { r.steps *= 3; }},
      {"averaged_sgd", [](Recipe& r) { r.method = Method::averaged_sgd, r.rate = 0.5; }},
      {"adam", [](Recipe& r) { r.method = Method::adam, r.rate = 3e-3, r.decay = 0; }},
      {"adamw", [](Recipe& r) { r.method = Method::adamw, r.rate = 3e-3, r.decay = 0.05; }},
      {"plain_sgd", [](Recipe& r) { r.method = Method::sgd, r.momentum = 0, r.rate = 0.5; }},
      {"tanh", [](Recipe& r) { r.net.activation = Activation::tanh; }},
      {"dropout", [](Recipe& r) { r.net.dropout = 0.1; }},
      {"batch_of_one",
       [](Recipe& r) {
         r.batch = 1, r.rate /= 20, r.steps *= 8, r.interval *= 5, r.validate *= 5;
         r.schedule = warm_cosine;
       }},
      {"large_batch", [](Recipe& r) { r.batch *= 4; }},
      {"half_rate", [](Recipe& r) { r.rate /= 2, r.steps = r.steps * 3 / 2; }},
      {"very_long", [](Recipe& r) { r.steps *= 10, r.interval *= 5, r.validate *= 10; }},
      {"eight_layers", [](Recipe& r) { r.net.layers = 8; }},
      {"cells", [](Recipe& r) { r.net.cells = true; }},
      {"converged",
       [](Recipe& r) {  // a task without noise, until nothing is left to learn
         r.data = {.task = Task::recall, .time = 6};
         r.net.width = 32;
         r.batch = 64;
         r.steps = 6000;
         r.interval = 50;
         r.validate = 500;
         r.schedule = {};
         r.rate = 2e-2;
         r.method = Method::adam;
         r.decay = 0;
       }},
  };
  return all;
}

struct Row {
  const char* model;
  double good;  ///< the loss that all these variants reach
  std::vector<std::string> variants;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"mlp", 0.1, {"", "seed2", "clip", "cosine", "few_lines", "long", "plain_sgd"}},
      {"mlp", 0.2, {"batch_of_one", "averaged_sgd"}},
      {"mlp_adam", 0.1, {"", "seed2", "clip", "every_step", "narrow", "tanh", "long", "adamw", "steps_down"}},
      {"mlp_short", 0.15, {"", "seed3", "clip_half", "large_batch"}},
      {"bn", 0.15, {"", "seed2", "clip", "few_lines", "adam", "constant"}},
      {"bn_sgd", 0.05, {"", "cosine", "wide", "every_step"}},
      {"deep", 0.3, {"", "seed2", "clip", "adamw"}},
      {"deep_relu", 0.1, {"", "no_clip", "cosine"}},
      {"deep_sgd", 0.15, {"", "seed2", "few_lines", "clip"}},
      {"rnn", 0.36, {"", "seed2", "no_clip", "cosine", "two_layers"}},
      {"rnn_recall", 0.2, {"", "seed2"}},
      {"rnn_series", 0.06, {"", "seed2", "adam", "no_clip"}},
      {"gru", 0.05, {"", "seed2", "clip", "few_lines", "long", "every_step"}},
      {"gru_text", 0.36, {"", "seed3", "one_layer", "dropout", "no_clip"}},
      {"lstm", 0.36, {"", "seed2", "clip", "few_lines", "constant", "two_layers", "cells"}},
      {"lstm_sgd", 0.36, {"", "seed2"}},
      {"lstm_recall", 0.05, {"", "seed2", "clip"}},
      {"lm", 0.45, {"", "seed2", "no_clip", "constant", "wide", "half_rate", "one_cycle"}},
      {"lm", 0.6, {"dropout"}},
      {"lm_deep", 0.55, {"", "seed2", "clip", "every_step"}},
      {"lm_sgd", 0.45, {"", "seed2"}},
      {"encoder", 0.05, {"", "seed2", "clip", "few_lines", "two_layers"}},
      {"gru", 1e-6, {"converged"}},
      {"lstm", 1e-6, {"converged"}},
      {"encoder", 5e-4, {"very_long"}},
      {"bn_sgd", 0.1, {"eight_layers"}},
  };
  return all;
}

}  // namespace

std::vector<Healthy> all_healthy() {
  std::vector<Healthy> out;
  for (const Row& row : rows())
    for (const std::string& variant : row.variants) {
      Healthy run{std::string("healthy-") + row.model + (variant.empty() ? "" : "-" + variant), base(row.model),
                  row.good};
      variants().at(variant)(run.recipe);
      run.recipe.seed = fnv1a(run.name) % 1'000'000;
      out.push_back(std::move(run));
    }
  return out;
}

}  // namespace xtape::faults
