// Faults of inputs and of what is validated.
#include "edits.hpp"

#include <limits>

namespace xtape::faults {

namespace {

void change_inputs(Recipe& recipe, real factor, real shift) {
  recipe.change_batch = [factor, shift](Batch& batch, index_t) {
    for (real& x : batch.x) x = factor * x + shift;
  };
  recipe.change_validation = recipe.change_batch;
}

void add_input_scales(Faults& out) {
  const Expected wild{.causes = {"input_scale"}, .harmful = {kSmallerWeights, kLargerModel}};
  plant(out, "inputs_of_1e4", {"mlp", "deep_sgd", "gru", "deep"}, wild, [](Fault& f) {
    change_inputs(f.recipe, 1e4, 0);
    since(f, 0);
  });
  plant(out, "inputs_with_offset", {"mlp", "deep_sgd", "gru", "rnn_series"}, wild, [](Fault& f) {
    change_inputs(f.recipe, 1, 100);
    since(f, 0);
  });
  plant(out, "inputs_tiny", {"mlp", "deep_sgd", "rnn_series"},
        {.causes = {"input_scale"}, .harmful = {kSmallerWeights, kLargerModel}}, [](Fault& f) {
          change_inputs(f.recipe, 1e-3F, 0);
          since(f, 0);
        });
}

void add_single_steps(Faults& out) {
  plant(out, "nan_in_input", {"mlp", "bn", "gru", "rnn_series"}, {.causes = {"nonfinite_input"}}, [](Fault& f) {
    const bool logged = f.recipe.name == "mlp" || f.recipe.name == "gru";
    const index_t at = logged ? logged_step_at(f.recipe, 0.3) : step_at(f.recipe, 0.3);
    f.recipe.change_batch = [at](Batch& batch, index_t step) {
      if (step == at) batch.x.data()[3] = kNaN;
    };
    f.expected.step = at;
    if (!logged) f.expected.causes.push_back("loss_nonfinite");  // no line of that step tells where it began
  });
  plant(out, "nan_in_input_from", {"mlp_adam", "deep", "gru"}, {.causes = {"nonfinite_input"}}, [](Fault& f) {
    const index_t from = step_at(f.recipe, 0.5);
    f.recipe.change_batch = [from](Batch& batch, index_t step) {
      if (step >= from) batch.x.data()[3] = kNaN;
    };
    f.expected.step = from;
  });
  plant(out, "one_wild_batch", {"mlp", "mlp_adam", "gru", "deep_relu"}, {.causes = {"spike"}, .harmful = {kRaiseRate}},
        [](Fault& f) {
          const index_t at = step_at(f.recipe, 0.5);
          if (f.recipe.name == "mlp") f.expected.causes.push_back("late_divergence");  // it never recovers
          f.recipe.change_batch = [at](Batch& batch, index_t step) {
            if (step != at) return;
            for (real& x : batch.x) x *= -30;
          };
          f.expected.step = at;
          f.expected.tolerance = 1;
          f.shows = [](const Outcome& faulty, const Outcome& healthy) {
            return faulty.highest > 3 * healthy.highest || faulty.highest_norm > 3 * healthy.highest_norm;
          };
        });
  plant(out, "one_batch_of_wrong_labels", {"lstm", "lm", "bn_sgd"}, {.causes = {"spike"}, .harmful = {kRaiseRate}},
        [](Fault& f) {
          const index_t at = step_at(f.recipe, 0.7);
          const index_t classes = sizes_of(f.recipe.data.task).classes;
          f.recipe.change_batch = [at, classes](Batch& batch, index_t step) {
            if (step != at) return;
            for (index_t& target : batch.targets) target = (target + 5) % classes;
          };
          f.expected.step = at;
          f.expected.tolerance = 1;
          f.shows = [](const Outcome& faulty, const Outcome& healthy) {
            return faulty.highest > 1.5 * healthy.highest || faulty.highest_norm > 3 * healthy.highest_norm;
          };
        });
}

void add_validation(Faults& out) {
  plant(out, "validation_scaled", {"mlp", "bn", "gru", "deep"}, {.causes = {"validation_mismatch"}}, [](Fault& f) {
    f.recipe.change_validation = [](Batch& batch, index_t) {
      for (real& x : batch.x) x *= 16;
    };
    since(f, 0);
  });
  plant(out, "validation_nan_from", {"mlp", "bn", "gru", "deep_relu"}, {.causes = {"validation_nonfinite"}},
        [](Fault& f) {
          const index_t from = f.recipe.steps / 2 / f.recipe.validate * f.recipe.validate;
          f.recipe.change_validation = [from](Batch& batch, index_t step) {
            if (step >= from) batch.x.data()[0] = kNaN;
          };
          f.expected.step = from;
        });
  plant(out, "validation_infinite_at_0", {"mlp_adam", "gru", "deep"}, {.causes = {"validation_nonfinite"}},
        [](Fault& f) {
          f.recipe.change_validation = [series = f.recipe.data.task == Task::series](Batch& batch, index_t step) {
            if (step == 0) (series ? batch.values : batch.x).data()[0] = std::numeric_limits<real>::infinity();
          };
          f.expected.step = 0;
          f.shows = always_shows;  // the log's first line has it
        });
}

/// So few examples that a network learns them by heart, some with wrong labels.
void few_examples(Recipe& recipe) {
  recipe.data.count = is_text(recipe) ? 8 : 60;
  recipe.steps *= 2;
  recipe.schedule = {};
  recipe.net.dropout = 0;
  recipe.decay = 0;
  recipe.validate = 10;
}

/// A number that depends on the example in row b only: it gets the same wrong label whenever it is drawn.
index_t mark_of(const Batch& batch, index_t b) {
  double mark = 0;
  const bool has_ids = batch.ids.dimension() > 0;
  const index_t columns = (has_ids ? numel(batch.ids) : numel(batch.x)) / numel(batch.targets);
  for (index_t i = 0; i < columns; ++i) {
    const index_t at = b * columns + i;
    mark += static_cast<double>(i + 1) *
            (has_ids ? static_cast<double>(batch.ids.data()[at]) : static_cast<double>(batch.x.data()[at]));
  }
  return static_cast<index_t>(mark * 1e3);
}

void add_overfitting(Faults& out) {
  plant(out, "few_examples", {"mlp_adam", "lm", "lstm", "bn"},
        {.causes = {"overfitting"}, .harmful = {kLargerModel, kRaiseRate}}, [](Fault& f) {
          few_examples(f.recipe);
          f.best_is_the_step = true;
          f.expected.tolerance = f.recipe.steps / 5;
        });
  plant(out, "few_wrong_labels", {"mlp", "encoder", "mlp_short"},
        {.causes = {"overfitting"}, .harmful = {kLargerModel, kRaiseRate}}, [](Fault& f) {
          few_examples(f.recipe);
          f.recipe.data.count = 150;
          const index_t classes = sizes_of(f.recipe.data.task).classes;
          f.recipe.change_batch = [classes](Batch& batch, index_t) {
            for (index_t b = 0; b < numel(batch.targets); ++b)
              if (const index_t mark = mark_of(batch, b); mark % 3 == 0) batch.targets.data()[b] = mark / 3 % classes;
          };
          f.best_is_the_step = true;
          f.expected.tolerance = f.recipe.steps / 5;
        });
}

void add_vocabulary(Faults& out) {
  plant(out, "vocabulary_too_large", {"lm", "lstm", "gru_text", "encoder"}, {.causes = {"untouched_rows"}},
        [](Fault& f) {
          f.recipe.net.vocab = 1500;
          f.expected.layers = {"embedding", "token_embedding"};
          f.shows = always_shows;  // 1500 rows, of which at most 17 are used
        });
}

}  // namespace

void add_data_kinds(Faults& out) {
  add_input_scales(out);
  add_single_steps(out);
  add_validation(out);
  add_overfitting(out);
  add_vocabulary(out);
}

}  // namespace xtape::faults
