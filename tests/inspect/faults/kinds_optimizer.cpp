// Faults around the optimizer: momentum, decay, clipping, what is stepped and cleared, and which batches it sees.
#include "edits.hpp"

namespace xtape::faults {

namespace {

void add_options(Faults& out) {
  plant(out, "momentum_0.999", {"mlp", "bn_sgd", "deep_sgd", "lm_sgd"},
        {.causes = {"momentum_too_high"}, .harmful = {kRaiseRate, kLargerModel}},
        [](Fault& f) { f.recipe.momentum = 0.999; });
  plant(out, "decay_of_a_tenth", {"mlp", "deep", "lm", "lstm"},
        {.causes = {"decay_too_large"}, .harmful = {kLowerRate, kResiduals, kRaiseRate}}, [](Fault& f) {
          f.recipe.method = f.recipe.method == Method::sgd ? Method::sgd : Method::adamw;
          f.recipe.decay = 0.1 / f.recipe.rate;
          f.recipe.schedule = {};
        });
  plant(out, "decay_l2_huge", {"mlp_adam", "rnn", "encoder"},
        {.causes = {"decay_too_large"}, .harmful = {kLowerRate, kResiduals, kRaiseRate}},
        [](Fault& f) { f.recipe.decay = 1; });
  plant(out, "clip_tiny", {"mlp", "bn_sgd", "lstm_sgd", "rnn_series"},
        {.causes = {"clip_too_tight"}, .harmful = {kLowerRate, kRaiseRate}}, [](Fault& f) { f.recipe.clip = 1e-4; });
}

void add_steps(Faults& out) {
  plant(out, "step_never_called", {"mlp", "rnn", "lm", "gru"}, {.causes = {"no_update"}}, [](Fault& f) {
    f.recipe.steps_optimizer = false;
    since(f, 0);
  });
  plant(out, "gradients_never_cleared", {"mlp", "bn_sgd", "lm", "gru_text"},
        {.causes = {"gradients_not_cleared"}, .harmful = {kLowerRate, kRaiseRate}}, [](Fault& f) {
          f.recipe.clears_gradients = false;
          f.recipe.clip = {};
          since(f, 0);
        });
  plant(out, "layer_in_no_optimizer", {"mlp", "lm", "lstm", "bn"}, {.causes = {"not_in_optimizer"}}, [](Fault& f) {
    const std::string layer = is_recurrent(f.recipe) ? "rnn" : "layers.1";
    f.recipe.groups = [layer](ParamStore& store) { return groups_apart(store, layer, {}); };
    f.expected.layers = {layer};
    since(f, 0);
    f.shows = [layer](const Outcome& faulty, const Outcome&) { return moved(faulty, layer) == 0; };
  });
  plant(out, "most_steps_skipped", {"mlp", "bn", "gru", "lm"}, {.causes = {"steps_skipped"}}, [](Fault& f) {
    f.recipe.on_trouble = OnTrouble::skip;
    const auto broken = [](index_t step) { return step % 8 < 5; };
    if (is_text(f.recipe)) {
      f.expected.causes.push_back("loss_nonfinite");
      f.recipe.own_loss = [broken](const Tensor& logits, const Batch& batch, index_t step) {
        const Tensor loss = cross_entropy(logits, batch.targets);
        return broken(step) ? loss * kNaN : loss;
      };
    } else {
      f.expected.causes.push_back("nonfinite_input");
      f.recipe.change_batch = [broken](Batch& batch, index_t step) {
        if (broken(step)) batch.x.data()[7] = kNaN;
      };
    }
    since(f, 0);
    f.shows = [](const Outcome& faulty, const Outcome& healthy) { return faulty.updates < healthy.updates / 2; };
  });
}

void add_batches(Faults& out) {
  plant(out, "same_batch", {"mlp", "lm", "gru_text", "bn_sgd"}, {.causes = {"repeated_batch", "overfitting"}},
        [](Fault& f) {
          f.recipe.same_batch = true;
          f.recipe.validate = 10;
          if (f.recipe.name == "bn_sgd") f.recipe.batch = 16;
        });
  plant(out, "noise_of_one_example", {"mlp", "encoder", "mlp_short", "mlp_adam"},
        {.causes = {"gradient_noise", "rate_too_high"}, .harmful = {kRaiseRate, kLargerModel}}, [](Fault& f) {
          f.recipe.batch = 1;
          f.shows = [](const Outcome& faulty, const Outcome& healthy) {
            return *faulty.validation_last > 2 * *healthy.validation_last + 0.02;
          };
          f.recipe.change_batch = [](Batch& batch, index_t step) {
            Random random(9, static_cast<std::uint64_t>(step));
            if (random.below(10) < 6) batch.targets.data()[0] = random.below(batch.x.dimension() > 0 ? 10 : 4);
          };
        });
}

}  // namespace

void add_optimizer_kinds(Faults& out) {
  add_options(out);
  add_steps(out);
  add_batches(out);
}

}  // namespace xtape::faults
