// Training runs on a task that needs sharp attention: look up the value of a key.
#include "groups.hpp"

namespace xtape::theory {

namespace {

constexpr index_t kModelWidth = 64, kValues = 8;

/// Pairs of key and value in random order, the key that is asked for, and its value.
struct Lookup {
  IndexArray keys, values;   ///< [B, N]
  IndexArray asked, answer;  ///< [B, 1], [B]
};

Lookup lookup(index_t batch, index_t n, Random& random) {
  Lookup out{empty_array<IndexArray>({batch, n}), empty_array<IndexArray>({batch, n}),
             empty_array<IndexArray>({batch, 1}), empty_array<IndexArray>({batch})};
  for (index_t b = 0; b < batch; ++b) {
    for (index_t i = 0; i < n; ++i) {  // a random permutation of the keys, drawn in place
      const auto j = static_cast<std::size_t>(random.below(i + 1));
      out.keys(b, i) = out.keys(b, j);
      out.keys(b, j) = i;
      out.values(b, i) = random.below(kValues);
    }
    const auto place = static_cast<std::size_t>(random.below(n));
    out.asked(b, 0) = out.keys(b, place);
    out.answer(b) = out.values(b, place);
  }
  return out;
}

/// One attention layer between embeddings and an output layer.
struct Reader {
  ParamStore store;
  Embedding keys, values, questions;
  MultiHeadAttention attention;
  Linear head;

  Reader(index_t n, const AttentionConfig& config)
      : store(91),
        keys(store.root() / "keys", n, kModelWidth),
        values(store.root() / "values", kValues, kModelWidth),
        questions(store.root() / "questions", n, kModelWidth),
        attention(store.root() / "attention", {.width = kModelWidth,
                                               .heads = 1,
                                               .attention = config,
                                               .in_proj_init = init::normal(0, 1 / std::sqrt(double{kModelWidth}))}),
        head(store.root() / "head", kModelWidth, kValues) {}

  Tensor operator()(const Lookup& task) const {
    const Tensor memory = (keys(task.keys) + values(task.values)) * std::sqrt(real(0.5));  // of unit variance
    return squeeze(head(attention(questions(task.asked), memory)), {1});
  }
};

struct Trained {
  double accuracy;  ///< % of fresh tasks
  Curve losses;
};

Trained train(const std::string& name, index_t n, const AttentionConfig& config, index_t steps) {
  Reader model(n, config);
  AdamW opt(all_parameters(model.store));
  Random random(92, "lookup");
  Trained out{0, {name, {}, {}}};
  double recent = 0;
  for (index_t step = 0; step < steps; ++step) {
    const Lookup task = lookup(32, static_cast<std::size_t>(n), random);
    Tape tape;
    const Tensor loss = cross_entropy(model(task), task.answer);
    tape.backward(loss);
    opt.step(2e-3);
    model.store.zero_grad();
    recent = step ? 0.95 * recent + 0.05 * loss.item() : loss.item();
    if (step % 25 == 0) out.losses.x.push_back(static_cast<double>(step)), out.losses.y.push_back(recent);
  }
  const Lookup fresh = lookup(1000, static_cast<std::size_t>(n), random);
  const std::vector<index_t> said = most_likely_of_rows(model(fresh));
  for (std::size_t b = 0; b < said.size(); ++b) out.accuracy += (said[b] == fresh.answer(b)) / 10.0;
  return out;
}

/// A2 in training: one head of width 1024, scaled by 1/sqrt(D) and not.
void large_heads(Report& report) {
  Claim claim(report,
              {"A2", "A large head does not learn without the scale.",
               "looking up a value by its key among 32, one head of width 1024", "Vaswani et al. 2017, section 3.2.1"});
  const index_t steps = report.steps() * 4 / 5;
  const Trained scaled = train("scaled by 1/sqrt(D)", 32, {.head_width = 1024, .value_width = 64}, steps);
  const Trained raw = train("not scaled", 32, {.head_width = 1024, .value_width = 64, .scale = 1}, steps);
  claim.at_least("scaled: % right after training (12.5 by chance)", 75, scaled.accuracy);
  claim.at_least("scaled - not scaled: % right", 20, scaled.accuracy - raw.accuracy);
  claim.plot({"Learning to look up, head of width 1024",
              "step",
              "loss, running mean",
              false,
              false,
              {scaled.losses, raw.losses}});
}

/// A5 in training: among n = 64 keys, heads of width 8.
void many_keys(Report& report) {
  Claim claim(report, {"A5", "Separable attention is worse where n is far above d.",
                       "looking up a value by its key among 64, heads of width 8", "rank at most d"});
  AttentionConfig exact{.head_width = 8, .value_width = 64}, linear = exact;
  linear.kind = AttentionKind::separable;
  const index_t steps = 2 * report.steps();
  const Trained softmax = train("softmax", 64, exact, steps), separable = train("separable", 64, linear, steps);
  claim.at_least("softmax: % right (12.5 by chance)", 80, softmax.accuracy);
  claim.at_least("softmax - separable: % right", 25, softmax.accuracy - separable.accuracy);
  claim.plot({"Learning to look up among 64 keys, heads of width 8",
              "step",
              "loss, running mean",
              false,
              false,
              {softmax.losses, separable.losses}});
}

}  // namespace

void trainings(Report& report) {
  large_heads(report);
  many_keys(report);
}

}  // namespace xtape::theory
