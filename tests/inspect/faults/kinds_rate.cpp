// Faults of the learning rate and its schedule.
#include "edits.hpp"

namespace xtape::faults {

namespace {

const Expected kTooHigh{.causes = {"rate_too_high"}, .harmful = {kRaiseRate, kLargerModel}};

void add_too_high(Faults& out) {
  plant(out, "rate_x100", {"mlp", "deep_sgd", "mlp_adam", "lm"}, kTooHigh, [](Fault& f) {
    f.recipe.rate *= 100;
    since(f, 0);
  });
  plant(out, "rate_x1000", {"bn_sgd", "rnn", "lm_deep", "mlp_short"}, kTooHigh, [](Fault& f) {
    f.recipe.rate *= 1000;
    since(f, 0);
  });
  plant(out, "rate_high_gated", {"lstm_sgd", "lstm", "gru_text", "gru"}, kTooHigh, [](Fault& f) {
    f.recipe.rate *= f.recipe.method == Method::sgd ? 30 : 100;
    f.recipe.schedule = {};
    since(f, 0);
  });
  plant(out, "no_warmup", {"lm", "lm_deep", "deep_relu", "deep"}, kTooHigh, [](Fault& f) {
    f.recipe.rate *= 20;
    f.recipe.schedule = {};
    since(f, 0);
  });
}

void add_too_low(Faults& out) {
  plant(out, "rate_too_low", {"mlp", "rnn", "lm", "gru"},
        {.causes = {"rate_too_low"}, .harmful = {kLowerRate, kLargerModel, kResiduals}},
        [](Fault& f) { f.recipe.rate *= 1e-3; });
  plant(out, "rate_zero", {"mlp", "lstm", "lm", "bn"}, {.causes = {"rate_zero"}}, [](Fault& f) {
    f.recipe.rate = 0;
    since(f, 0);
  });
  plant(out, "rate_zero_from", {"bn", "gru", "lm", "encoder"}, {.causes = {"rate_zero"}}, [](Fault& f) {
    const index_t from = step_at(f.recipe, 0.12);
    f.recipe.schedule = [from](index_t step, index_t) { return step < from ? 1.0 : 0.0; };
    since(f, from);
  });
  plant(out, "schedule_collapses", {"mlp", "lm", "lstm", "gru_text"},
        {.causes = {"rate_zero", "rate_too_low"}, .harmful = {kLowerRate, kLargerModel}}, [](Fault& f) {
          f.recipe.schedule = [](index_t step, index_t) { return std::pow(0.7, static_cast<double>(step)); };
        });
}

void add_late(Faults& out) {
  const Expected late{.causes = {"late_divergence", "rate_too_high"}, .harmful = {kRaiseRate, kLargerModel}};
  plant(out, "rate_jumps", {"mlp", "lm", "rnn", "gru"}, late, [](Fault& f) {
    const index_t from = step_at(f.recipe, 0.6);
    f.recipe.schedule = [from](index_t step, index_t) { return step < from ? 1.0 : 300.0; };
    since(f, from);
  });
  plant(out, "rate_grows", {"mlp_adam", "bn_sgd", "lm_deep", "lstm"}, late, [](Fault& f) {
    f.recipe.schedule = [](index_t step, index_t steps) {
      return std::pow(1000.0, static_cast<double>(step) / static_cast<double>(steps));
    };
  });
}

void add_uneven(Faults& out) {
  plant(out, "layer_x100", {"mlp", "rnn", "lm", "gru_text"},
        {.causes = {"uneven_rate", "rate_too_high"}, .harmful = {kRaiseRate}}, [](Fault& f) {
          const std::string layer = is_recurrent(f.recipe) ? "rnn" : "layers.1";
          f.recipe.groups = [layer](ParamStore& store) { return groups_apart(store, layer, 100); };
          f.expected.layers = {layer};
          since(f, 0);
        });
  plant(out, "layer_x0.01", {"mlp", "lm", "lstm", "encoder"}, {.causes = {"uneven_rate"}}, [](Fault& f) {
    const std::string layer = is_recurrent(f.recipe) ? "rnn" : f.recipe.name == "mlp" ? "layers.1" : "layers.0";
    f.recipe.groups = [layer](ParamStore& store) { return groups_apart(store, layer, 0.01); };
    f.expected.layers = {layer};
    f.shows = [layer](const Outcome& faulty, const Outcome& healthy) {
      return moved(faulty, layer) < 0.1 * moved(healthy, layer);
    };
  });
}

}  // namespace

void add_rate_kinds(Faults& out) {
  add_too_high(out);
  add_too_low(out);
  add_late(out);
  add_uneven(out);
}

}  // namespace xtape::faults
