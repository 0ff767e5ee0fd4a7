// Faults of the flow of gradients by depth and by time, of dropout and of batch norm.
#include "edits.hpp"

namespace xtape::faults {

namespace {

const Data kLongRecall{.task = Task::recall, .time = 24};

void add_depth(Faults& out) {
  const Expected vanishing{.causes = {"vanishing_depth"}, .harmful = {kSmallerWeights, kLowerRate}};
  plant(out, "deep_sigmoid", {"deep", "deep_sgd", "deep_relu"}, vanishing, [](Fault& f) {
    f.recipe.net.activation = Activation::sigmoid;
    since(f, 0);
  });
  plant(out, "gain_of_a_third", {"deep", "deep_sgd", "deep_relu"}, vanishing, [](Fault& f) {
    f.expected.causes.push_back("weights_too_small");
    f.recipe.net.weight_init = f.recipe.name == "deep_relu" ? init::he_normal(0.4) : init::xavier_normal(0.33);
    since(f, 0);
  });
  plant(out, "gain_of_four", {"deep_relu", "deep_sgd", "mlp_adam"},
        {.causes = {"exploding_depth", "weights_too_large"}, .harmful = {kRaiseRate, R"(\blarger weights\b)"}},
        [](Fault& f) {
          f.recipe.net.activation = Activation::relu;
          f.recipe.net.layers = 8;
          f.recipe.net.width = 32;
          f.recipe.net.weight_init = init::he_normal(5);
          since(f, 0);
        });
}

void add_vanishing_time(Faults& out) {
  const Expected vanishing{.causes = {"vanishing_time"}, .layers = {"rnn"}, .harmful = {kSmallerWeights, kLowerRate}};
  plant(out, "recurrent_small", {"rnn_recall", "rnn_series", "rnn"}, vanishing, [](Fault& f) {
    f.recipe.net.recurrent_init.recurrent = init::orthogonal(0.3);
    f.recipe.net.nonlinearity = Nonlinearity::sigmoid;
    f.recipe.data = kLongRecall;
    f.recipe.batch = 32;
    since(f, 0);
    f.shows = [](const Outcome& faulty, const Outcome&) { return faulty.last > 1.2; };  // ln 4: nothing is recalled
  });
  plant(out, "forgetful", {"lstm_recall", "lstm", "gru_text"}, vanishing, [](Fault& f) {
    f.recipe.data = kLongRecall;
    f.recipe.batch = 32;
    f.recipe.rate = 1e-3;
    f.recipe.schedule = {};
    f.recipe.net.layers = 1;
    const bool gru = f.recipe.net.architecture == Architecture::gru;
    f.recipe.prepare = [gru](ParamStore& store) {  // the gate that keeps the state: the second block of rows
      Parameter bias = store.parameter("rnn.bias_ih_l0");
      const index_t width = bias.numel() / (gru ? 3 : 4);
      std::fill_n(bias.edit() + width, width, real(-5));
    };
    since(f, 0);
    f.shows = [](const Outcome& faulty, const Outcome&) { return faulty.last > 1.2; };
  });
}

void add_exploding_time(Faults& out) {
  plant(out, "recurrent_radius_2", {"rnn_recall", "rnn_series"},
        {.causes = {"exploding_time", "weights_too_large"},
         .layers = {"rnn"},
         .harmful = {kRaiseRate, R"(\blarger\b.*\bweights\b)"}},
        [](Fault& f) {
          f.recipe.data.time = 48;
          f.recipe.net.recurrent_init.recurrent = init::orthogonal(2);
          f.recipe.net.recurrent_init.input = init::normal(0, 0.1);
          f.recipe.clip = {};
          since(f, 0);
          f.shows = [](const Outcome& faulty, const Outcome& healthy) {
            return faulty.nonfinite > 0 || faulty.highest_norm > 10 * healthy.highest_norm;
          };
        });
  plant(out, "relu_radius_1.4", {"rnn", "rnn_recall"},
        {.causes = {"exploding_time", "weights_too_large"},
         .layers = {"rnn"},
         .harmful = {kRaiseRate, R"(\blarger\b.*\bweights\b)"}},
        [](Fault& f) {
          f.recipe.net.nonlinearity = Nonlinearity::relu;
          f.recipe.net.recurrent_init.recurrent = init::identity(1.4);
          f.recipe.data.time = 24;
          f.recipe.clip = {};
          since(f, 0);
          f.shows = [](const Outcome& faulty, const Outcome& healthy) {
            return faulty.nonfinite > 0 || faulty.highest_norm > 10 * healthy.highest_norm;
          };
        });
}

void add_cells(Faults& out) {
  plant(out, "cells_in_loop", {"rnn_recall", "gru_text", "lstm_recall"},
        {.causes = {"cells_in_loop", "vanishing_time"}, .layers = {"rnn"}}, [](Fault& f) {
          f.recipe.data = {.task = Task::recall, .time = 40};
          f.recipe.net.layers = 1;
          f.recipe.net.cells = true;
          f.recipe.rate = 1e-3;
          f.recipe.net.forget_bias = {};
          f.recipe.net.recurrent_init.recurrent = init::orthogonal(0.3);
          f.recipe.batch = 16;
          f.recipe.steps = 150;
          f.recipe.interval = 10;
          f.shows = [](const Outcome& faulty, const Outcome&) { return faulty.last > 1.2; };
        });
}

void add_modes(Faults& out) {
  plant(out, "dropout_0.95", {"bn", "lm", "lstm", "mlp"},
        {.causes = {"too_much_dropout"}, .harmful = {kLargerModel, kRaiseRate}},
        [](Fault& f) { f.recipe.net.dropout = 0.95; });
  plant(out, "evaluation_mode", {"bn", "bn_sgd"}, {.causes = {"evaluation_mode"}}, [](Fault& f) {
    f.recipe.eval_from = 0;
    f.recipe.net.layers = 8;  // too many to learn without norms
    since(f, 0);
  });
  const Expected no_dropout{.causes = {"evaluation_mode", "overfitting"}, .harmful = {kLargerModel, kRaiseRate}};
  plant(out, "evaluation_mode_no_dropout", {"mlp_adam", "lm", "lstm"}, no_dropout, [](Fault& f) {
    f.recipe.eval_from = 0;
    f.recipe.net.dropout = 0.5;
    f.recipe.data.count = is_text(f.recipe) ? 8 : 60;
  });
  plant(out, "evaluation_mode_from", {"bn", "lm", "gru_text"}, no_dropout, [](Fault& f) {
    f.recipe.eval_from = f.recipe.validate + 1;  // as after a validation that does not set it back
    f.recipe.net.dropout = 0.5;
    f.recipe.data.count = is_text(f.recipe) ? 8 : 60;
  });
  plant(out, "norm_momentum_0", {"bn", "bn_sgd"}, {.causes = {"validation_mismatch"}},
        [](Fault& f) { f.recipe.net.norm.momentum = 0; });
  plant(out, "norm_momentum_tiny", {"bn", "bn_sgd"}, {.causes = {"validation_mismatch"}},
        [](Fault& f) { f.recipe.net.norm.momentum = 1e-4; });
}

}  // namespace

void add_flow_kinds(Faults& out) {
  add_depth(out);
  add_vanishing_time(out);
  add_exploding_time(out);
  add_cells(out);
  add_modes(out);
}

}  // namespace xtape::faults
