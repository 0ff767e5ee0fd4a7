// Faults that make NaN or infinity, in the loss or in a layer.
#include "edits.hpp"

#include <limits>

namespace xtape::faults {

namespace {

/// -log of the softmax's probability of the targets; the probability of one is set to 0 at a step.
Tensor own_cross_entropy(const Tensor& logits, const Batch& batch, bool broken) {
  const index_t classes = logits.size(-1), rows = numel(batch.targets);
  IndexArray targets = batch.targets;
  targets.reshape(Shape{rows, 1}.unsigned_sizes());
  const Tensor probabilities = softmax(reshape(logits, {rows, classes}));
  Array mask = full_array({rows, 1}, 1);
  if (broken) mask.data()[0] = 0;
  return -mean(log(gather(probabilities, 1, targets) * Tensor(mask)));
}

void add_broken_losses(Faults& out) {
  plant(out, "log_of_0_in_loss", {"mlp", "encoder", "lstm", "deep"}, {.causes = {"loss_nonfinite"}, .no_layer = true},
        [](Fault& f) {
          const bool logged = f.recipe.name == "mlp" || f.recipe.name == "lstm";
          const index_t at = logged ? logged_step_at(f.recipe, 0.3) : step_at(f.recipe, 0.3);
          const bool from_there_on = f.recipe.name == "mlp" || f.recipe.name == "encoder";
          f.recipe.own_loss = [at, from_there_on](const Tensor& logits, const Batch& batch, index_t step) {
            return own_cross_entropy(logits, batch, step == at || (from_there_on && step > at));
          };
          f.expected.step = at;
        });
  plant(out, "loss_overflows", {"lm", "gru", "mlp_adam"}, {.causes = {"loss_nonfinite"}, .no_layer = true},
        [](Fault& f) {
          const index_t at = step_at(f.recipe, 0.5);
          f.recipe.own_loss = [at](const Tensor& logits, const Batch& batch, index_t step) {
            const Tensor loss = batch.values.dimension() > 0 ? mse_loss(logits, Tensor(batch.values))
                                                             : cross_entropy(logits, batch.targets);
            return step >= at ? loss + exp(loss * real(0) + real(200)) : loss;
          };
          f.expected.step = at;
        });
}

/// The layer whose output is broken, and the one that is the first to show it.
std::vector<std::string> beside_place_1(const Recipe& recipe) {
  if (is_recurrent(recipe)) return {"rnn", "head"};
  return {"layers.1", recipe.net.layers > 2 ? "layers.2" : "head"};
}

/// What breaks a value: log 0 in every unit, an overflow of exp, or one of the product in the next layer.
enum class Break { log, exp, linear };

Tensor broken(const Tensor& x, Break how) {
  switch (how) {
    case Break::log:
      return x + log(x - x);
    case Break::exp:
      return x + exp(x * real(0) + real(200));
    case Break::linear:
      break;
  }
  return (x + real(1)) * real(1e38);
}

void break_at(Recipe& recipe, index_t at, bool from_there_on, Break how = Break::log) {
  recipe.middle = [=](const Tensor& x, index_t place, index_t step) {
    const bool breaks = place == 1 && (step == at || (from_there_on && step > at));
    return breaks ? broken(x, how) : x;
  };
}

void add_broken_layers(Faults& out) {
  plant(out, "nan_in_layer", {"mlp", "deep", "gru_text", "bn"}, {.causes = {"layer_nonfinite"}}, [](Fault& f) {
    const index_t at = logged_step_at(f.recipe, 0.4);
    break_at(f.recipe, at, true);
    f.expected.layers = beside_place_1(f.recipe);
    f.expected.step = at;
  });
  plant(out, "nan_in_layer_anomaly", {"mlp_adam", "deep_relu", "lstm", "bn"}, {.causes = {"layer_nonfinite"}},
        [](Fault& f) {
          const index_t at = step_at(f.recipe, 0.4);
          f.recipe.detect_anomaly = true;
          const std::string& name = f.recipe.name;
          break_at(f.recipe, at, false, name == "deep_relu" ? Break::exp : name == "bn" ? Break::linear : Break::log);
          f.expected.layers = beside_place_1(f.recipe);
          f.expected.step = at;
        });
  plant(out, "nan_in_layer_once", {"mlp_short", "deep_sgd", "rnn"}, {.causes = {"layer_nonfinite", "loss_nonfinite"}},
        [](Fault& f) {  // no line of that step tells the layer
          const index_t at = step_at(f.recipe, 0.6);
          break_at(f.recipe, at, false);
          f.expected.step = at;
        });
  plant(out, "weight_overflows", {"mlp", "bn", "deep_relu"}, {.causes = {"layer_nonfinite", "weights_too_large"}},
        [](Fault& f) {
          f.expected.layers = {"layers.0", "layers.1"};
          f.recipe.prepare = [](ParamStore& store) {
            Parameter weight = store.parameters().front();
            std::fill_n(weight.edit(), weight.numel(), std::numeric_limits<real>::max());
          };
          f.expected.step = 0;
        });
}

}  // namespace

void add_number_kinds(Faults& out) {
  add_broken_losses(out);
  add_broken_layers(out);
}

}  // namespace xtape::faults
