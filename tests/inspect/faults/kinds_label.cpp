// Faults of targets and of the loss.
#include "edits.hpp"

namespace xtape::faults {

namespace {

void add_targets(Faults& out) {
  plant(out, "labels_shuffled", {"mlp", "lm", "lstm_recall", "encoder"},
        {.causes = {"stuck_at_chance"}, .harmful = {kLargerModel}}, [](Fault& f) {
          const index_t classes = sizes_of(f.recipe.data.task).classes;
          f.recipe.change_batch = [classes](Batch& batch, index_t step) {
            Random random(11, static_cast<std::uint64_t>(step));
            for (index_t& target : batch.targets)
              if (target >= 0) target = random.below(classes);
          };
        });
  plant(out, "labels_all_one_class", {"mlp", "encoder", "bn", "rnn"}, {.causes = {"constant_loss"}}, [](Fault& f) {
    f.recipe.change_batch = [](Batch& batch, index_t) {
      for (index_t& target : batch.targets) target = 2;
    };
    if (f.recipe.name == "mlp" || f.recipe.name == "rnn") f.recipe.change_validation = f.recipe.change_batch;
    else f.expected.causes.push_back("validation_mismatch");
    f.shows = [](const Outcome& faulty, const Outcome& healthy) { return faulty.last < 0.2 * healthy.last + 1e-3; };
  });
  plant(out, "all_targets_ignored", {"mlp", "lm", "lstm", "rnn_recall"},
        {.causes = {"constant_loss"}, .harmful = {kLowerRate, kRaiseRate}}, [](Fault& f) {
          f.recipe.change_batch = [](Batch& batch, index_t) {
            for (index_t& target : batch.targets) target = kIgnore;
          };
          since(f, 0);
        });
}

void add_leaks(Faults& out) {
  plant(out, "target_is_input", {"lm", "lstm", "rnn", "gru_text"}, {.causes = {"validation_mismatch"}},
        [](Fault& f) { f.recipe.change_batch = [](Batch& batch, index_t) { batch.targets = batch.ids; }; });
  plant(out, "label_in_input", {"mlp", "bn_sgd", "mlp_short"}, {.causes = {"validation_mismatch"}}, [](Fault& f) {
    f.recipe.change_batch = [](Batch& batch, index_t) {
      const index_t pixels = 64;
      for (index_t b = 0; b < numel(batch.targets); ++b)
        for (index_t i = 0; i < 10; ++i)
          batch.x.data()[b * pixels + pixels - 1 - i] = i == batch.targets.data()[b] ? real(3) : real(0);
    };
  });
}

void add_wrong_losses(Faults& out) {
  plant(out, "loss_of_wrong_sign", {"mlp", "lm", "lstm", "encoder"},
        {.causes = {"impossible_loss"}, .harmful = {kRaiseRate, kLargerModel}}, [](Fault& f) {
          f.recipe.own_loss = [](const Tensor& logits, const Batch& batch, index_t) {
            return -cross_entropy(logits, batch.targets);
          };
          since(f, 0);
          f.shows = [](const Outcome& faulty, const Outcome&) { return faulty.last < -1 || faulty.nonfinite > 0; };
        });
  plant(out, "log_of_a_likelihood", {"mlp_adam", "deep_relu"},
        {.causes = {"impossible_loss"}, .harmful = {kRaiseRate, kLargerModel}}, [](Fault& f) {
          f.recipe.own_loss = [](const Tensor& logits, const Batch& batch,
                                 index_t) {  // targets that are no distribution
            Array targets = full_array(logits.shape(), real(-0.2));
            for (index_t b = 0; b < numel(batch.targets); ++b) targets.data()[b * 10 + batch.targets.data()[b]] = 1;
            return cross_entropy(logits, Tensor(targets));
          };
          f.shows = [](const Outcome& faulty, const Outcome&) { return faulty.last < -0.1 || faulty.nonfinite > 0; };
        });
  plant(out, "logits_times_0", {"mlp", "lstm", "encoder"}, {.causes = {"constant_loss", "no_gradient"}}, [](Fault& f) {
    f.recipe.middle = [](const Tensor& x, index_t place, index_t) { return place == kLogits ? x * real(0) : x; };
    since(f, 0);
  });
}

void add_refused_labels(Faults& out) {
  plant(out, "too_few_classes", {"mlp", "bn", "gru_text", "encoder"},
        {.causes = {}, .refusal = R"(cross_entropy\].*0\.\.\d+, got \d+)"}, [](Fault& f) {
          f.recipe.net.classes = sizes_of(f.recipe.data.task).classes - 1;
          f.shows = always_shows;  // the training ends
        });
  plant(out, "vocabulary_too_small", {"lm", "rnn"}, {.causes = {}, .refusal = R"(embedding.*0\.\.\d+, got \d+)"},
        [](Fault& f) {
          f.recipe.net.vocab = 10;
          f.shows = always_shows;
        });
}

}  // namespace

void add_label_kinds(Faults& out) {
  add_targets(out);
  add_leaks(out);
  add_wrong_losses(out);
  add_refused_labels(out);
}

}  // namespace xtape::faults
