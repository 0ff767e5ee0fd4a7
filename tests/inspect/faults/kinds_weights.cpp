// Faults of the first weights.
#include "edits.hpp"

namespace xtape::faults {

namespace {

void add_constants(Faults& out) {
  plant(out, "zero_weights", {"mlp", "gru_text", "lstm", "encoder"}, {.causes = {"zero_weights"}}, [](Fault& f) {
    f.recipe.prepare = [](ParamStore& store) {
      for (const Parameter& p : store.parameters())
        if (p.shape().rank() > 1) fill(store, p.name(), "", 0);
    };
    since(f, 0);
  });
  plant(out, "zero_layer", {"deep_relu", "deep", "mlp_adam"}, {.causes = {"zero_weights"}}, [](Fault& f) {
    f.recipe.prepare = [](ParamStore& store) { fill(store, "layers.1", "", 0); };
    f.expected.layers = {"layers.1"};
    since(f, 0);
  });
  plant(out, "equal_units", {"mlp", "lstm_recall", "bn", "mlp_adam"}, {.causes = {"equal_units"}}, [](Fault& f) {
    const std::string prefix = is_recurrent(f.recipe) ? "rnn" : "layers";
    f.recipe.prepare = [prefix](ParamStore& store) {
      for (const Parameter& p : store.parameters())
        if (p.name().starts_with(prefix) && p.name().find("norm") == std::string::npos)
          fill(store, p.name(), "", p.shape().rank() > 1 ? 0.05 : 0);
    };
    f.recipe.net.dropout = 0;
    f.expected.layers = {prefix};
    since(f, 0);
  });
}

void add_weight_scales(Faults& out) {
  const Expected large{.causes = {"weights_too_large"}, .harmful = {kRaiseRate, kLargerModel}};
  plant(out, "start_x30", {"mlp", "mlp_adam", "rnn", "lstm_recall"}, large, [](Fault& f) {
    f.recipe.prepare = [](ParamStore& store) { scale_matrices(store, "", 30); };
    if (f.recipe.name == "mlp" || f.recipe.name == "mlp_adam") f.expected.causes.push_back("exploding_depth");
    else f.expected.causes.push_back("saturated_units");
    since(f, 0);
  });
  plant(out, "head_x100", {"mlp", "deep_relu", "deep_sgd"}, large, [](Fault& f) {
    f.recipe.prepare = [](ParamStore& store) { scale_matrices(store, "head", 100); };
    f.expected.layers = {"head"};
    since(f, 0);
  });
  plant(out, "start_small", {"deep", "deep_relu", "deep_sgd", "mlp"},
        {.causes = {"weights_too_small", "vanishing_depth"}, .harmful = {kLowerRate, kLargerModel, kSmallerWeights}},
        [](Fault& f) {
          const double factor = f.recipe.net.layers > 3 ? 0.2 : 0.01;
          f.recipe.prepare = [factor](ParamStore& store) { scale_matrices(store, "layers", factor); };
          since(f, 0);
        });
}

void add_units(Faults& out) {
  plant(out, "dead_biases", {"mlp", "mlp_adam", "deep_relu", "mlp_short"}, {.causes = {"dead_units"}}, [](Fault& f) {
    const std::string layer = f.recipe.name == "deep_relu" ? "layers.3" : "layers.1";
    f.recipe.prepare = [layer](ParamStore& store) { fill(store, layer, "linear.bias", -10); };
    f.expected.layers = {layer};
    since(f, 0);
  });
  plant(out, "half_dead_biases", {"mlp", "deep_relu"}, {.causes = {"dead_units"}}, [](Fault& f) {
    f.recipe.prepare = [](ParamStore& store) {
      Parameter bias = store.parameter("layers.0.linear.bias");
      std::fill_n(bias.edit(), bias.numel() * 3 / 4, real(-10));
    };
    f.expected.layers = {"layers.0"};
    since(f, 0);
  });
  plant(out, "saturated_layer", {"rnn", "deep_sgd", "gru_text", "lstm_recall"},
        {.causes = {"saturated_units", "weights_too_large"}, .harmful = {kRaiseRate}}, [](Fault& f) {
          const std::string inputs = is_recurrent(f.recipe) ? "rnn.weight_ih" : "layers.1";
          f.recipe.prepare = [inputs](ParamStore& store) { scale_matrices(store, inputs, 60); };
          f.expected.layers = {is_recurrent(f.recipe) ? "rnn" : "layers.1"};
          since(f, 0);
        });
}

void add_attention(Faults& out) {
  plant(out, "attention_saturated", {"lm", "encoder", "lm_deep", "lm_sgd"},
        {.causes = {"attention_saturated", "weights_too_large"}, .harmful = {kRaiseRate, kLargerModel}}, [](Fault& f) {
          f.recipe.net.attention.scale = 1;
          f.recipe.prepare = [small = f.recipe.name == "encoder"](ParamStore& store) {
            for (const Parameter& p : store.parameters())
              if (p.name().ends_with("in_proj_weight")) scale_matrices(store, p.name(), small ? 20 : 60);
          };
          f.expected.layers = {"layers"};
          since(f, 0);
        });
  plant(out, "attention_on_one_key", {"lm", "encoder", "lm_deep"},
        {.causes = {"attention_collapsed", "attention_saturated"}}, [](Fault& f) {
          f.recipe.prepare = [](ParamStore& store) {  // one large query for all positions: only the keys decide
            for (Parameter p : store.parameters()) {
              if (!p.name().ends_with("in_proj_bias")) continue;
              for (index_t i = 0; i < p.numel() / 3; ++i) p.edit()[i] = real(i % 2 == 0 ? 400 : -400);
            }
          };
          f.expected.layers = {"layers"};
          since(f, 0);
        });
}

}  // namespace

void add_weight_kinds(Faults& out) {
  add_constants(out);
  add_weight_scales(out);
  add_units(out);
  add_attention(out);
}

}  // namespace xtape::faults
