// The entropy of attention rows, and where trained heads attend.
#include "groups.hpp"

namespace xtape::theory {

namespace {

constexpr index_t kContext = 32, kWidth = 48, kHeads = 4, kLayers = 2, kSymbols = 12, kIgnored = -100;

/// Entropy of weights that sum to 1.
double entropy_of(const std::vector<double>& weights) {
  double out = 0;
  for (double w : weights)
    if (w > 0) out -= w * std::log(w);
  return out;
}

/// Mean entropy of softmax over n normal scores of standard deviation s.
double entropy_at(double s, index_t n, Random& random) {
  std::vector<double> all;
  for (int i = 0; i < 200; ++i) {
    const Array row = softmax(Tensor(normal_array({n}, random, s))).value();
    all.push_back(entropy_of({row.begin(), row.end()}));
  }
  return mean_of(all).mean;
}

/// A language model that also returns its attention weights.
struct Model {
  ParamStore store;
  Embedding tokens, places;
  std::vector<TransformerBlock> blocks;
  LayerNorm norm;
  Linear head;

  Model(index_t vocab, std::uint64_t seed, const Init& embeddings, const Init& weights)
      : store(seed),
        tokens(store.root() / "tokens", vocab, kWidth, {.init = embeddings}),
        places(store.root() / "places", kContext, kWidth, {.init = embeddings}),
        norm(store.root() / "norm", kWidth),
        head(store.root() / "head", kWidth, vocab) {
    for (index_t i = 0; i < kLayers; ++i)
      blocks.emplace_back(store.root() / ("block" + std::to_string(i)),
                          TransformerBlockOptions{.width = kWidth, .heads = kHeads, .weight_init = weights});
  }

  Tensor embedded(const IndexArray& ids) const {
    IndexArray positions = ids;
    for (std::size_t b = 0; b < ids.shape(0); ++b)
      for (std::size_t t = 0; t < ids.shape(1); ++t) positions(b, t) = static_cast<index_t>(t);
    return tokens(ids) + places(positions);
  }

  Tensor operator()(const IndexArray& ids) const {
    Tensor x = embedded(ids);
    for (const TransformerBlock& block : blocks) x = block(x, {.causal = true});
    return head(norm(x));
  }

  /// [B, H, T, T] of each layer.
  std::vector<Array> weights(const IndexArray& ids) const {
    std::vector<Array> out;
    Tensor x = embedded(ids);
    for (const TransformerBlock& block : blocks) {
      out.push_back(block.self_attn.weights(block.norm1(x), {.causal = true}).value());
      x = block(x, {.causal = true});
    }
    return out;
  }
};

/// Means for one head over queries from position 8 on: entropy / ln n, and attention mass / mass of a uniform row.
struct Looks {
  double entropy_share = 0, previous = 0, first = 0, same = 0;
};

Looks looks_of(const Array& weights, std::size_t h, const IndexArray& ids, index_t forms) {
  Looks sum;
  double rows = 0, same = 0, same_uniform = 0;
  for (std::size_t b = 0; b < ids.shape(0); ++b)
    for (std::size_t t = 8; t < ids.shape(1); ++t, ++rows) {
      const double seen = static_cast<double>(t) + 1;
      std::vector<double> row;
      for (std::size_t s = 0; s <= t; ++s) {
        row.push_back(weights(b, h, t, s));
        if (s < t && ids(b, t) % forms == forms - 1 && ids(b, s) / forms == ids(b, t) / forms)
          same += row.back(), same_uniform += 1 / seen;
      }
      sum.entropy_share += entropy_of(row) / std::log(seen);
      sum.previous += row[t - 1] * seen;
      sum.first += row[0] * seen;
    }
  return {sum.entropy_share / rows, sum.previous / rows, sum.first / rows, same / same_uniform};
}

/// Two tokens are the same symbol if their ids / forms are equal; only queries of the last form are counted.
std::vector<Looks> looks_of(const Model& model, const IndexArray& ids, index_t forms = 1) {
  std::vector<Looks> out;
  for (const Array& layer : model.weights(ids))
    for (std::size_t h = 0; h < kHeads; ++h) out.push_back(looks_of(layer, h, ids, forms));
  return out;
}

/// The largest value of one member over all heads.
double strongest(const std::vector<Looks>& heads, double Looks::* mass) {
  double out = 0;
  for (const Looks& head : heads) out = std::max(out, head.*mass);
  return out;
}

Curve by_head(const std::string& name, const std::vector<Looks>& heads, double Looks::* mass) {
  Curve out{name, {}, {}, false, true};
  for (std::size_t i = 0; i < heads.size(); ++i)
    out.x.push_back(static_cast<double>(i)), out.y.push_back(heads[i].*mass);
  return out;
}

/// Trains on the batches next(step).
template <class Next>
void train(Model& model, index_t steps, const Next& next) {
  AdamW opt(decay_groups(model.store, 0.1), {.beta2 = 0.99});
  for (index_t step = 0; step < steps; ++step) {
    const Batch batch = next(step);
    Tape tape;
    tape.backward(cross_entropy(model(batch.inputs), batch.targets));
    clip_grad_norm(model.store, 1);
    opt.step(cosine(step, {.warmup = 50, .total = steps, .peak = 3e-3}));
    model.store.zero_grad();
  }
}

/// Each symbol has one of two colors, drawn anew in every sequence. A token 3 symbol + color shows a color; a token
/// 3 symbol + 2, after the symbol was shown, asks for it. Targets are the colors asked for.
Batch colored(index_t sequences, Random& random) {
  const index_t rows = static_cast<std::size_t>(sequences), context = kContext;
  Batch out{empty_array<IndexArray>({rows, context}), empty_array<IndexArray>({rows, context})};
  for (index_t b = 0; b < rows; ++b) {
    std::vector<index_t> colors(kSymbols, -1);
    for (std::size_t t = 0; t < context; ++t) {
      const index_t symbol = random.below(kSymbols);
      index_t& color = colors[symbol];
      const bool asked = color >= 0 && random.below(2) == 1;
      if (color < 0) color = random.below(2);
      out.inputs(b, t) = 3 * symbol + (asked ? 2 : color);
      out.targets(b, t) = asked ? color : kIgnored;
    }
  }
  return out;
}

/// The weights of one head in the first sequence.
Picture picture_of(const std::string& title, const Model& model, const IndexArray& ids, std::size_t index) {
  const Array weights = model.weights(ids)[index / kHeads];
  Picture out{title, "key", "query", {}};
  for (std::size_t t = 0; t < kContext; ++t) {
    auto& row = out.rows.emplace_back();
    for (std::size_t s = 0; s < kContext; ++s) row.push_back(std::round(1e4 * weights(0, index % kHeads, t, s)) / 1e4);
  }
  return out;
}

std::size_t strongest_head(const std::vector<Looks>& heads, double Looks::* mass) {
  const auto less = [&](const Looks& a, const Looks& b) { return a.*mass < b.*mass; };
  return static_cast<std::size_t>(std::max_element(heads.begin(), heads.end(), less) - heads.begin());
}

/// Entropy H <= ln n; for normal scores of small standard deviation s, ln n - H = s^2/2 to second order.
void entropy(Claim& claim, Random& random) {
  const index_t n = 2000;
  Curve found{"measured", {}, {}, false, true}, law{"s^2/2", {}, {}, true};
  for (double s : {0.1, 0.2, 0.4, 0.8, 1.6, 3.2}) {
    found.x.push_back(s), found.y.push_back(std::log(n) - entropy_at(s, n, random));
    law.x.push_back(s), law.y.push_back(s * s / 2);
  }
  claim.relative("ln n - H at score standard deviation 0.2, n = 2000", law.y[1], found.y[1], 0.05);
  claim.relative("at 0.4", law.y[2], found.y[2], 0.05);
  claim.at_least("least ln n - H over all", 0, *std::min_element(found.y.begin(), found.y.end()));
  claim.plot({"How far attention is from uniform",
              "standard deviation s of the scores",
              "ln n - entropy",
              true,
              true,
              {law, found}});
}

}  // namespace

/// A15. Untrained rows are near uniform if scores are small; trained heads attend to useful tokens.
void patterns(Report& report) {
  Claim claim(report, {"A15", "A row's entropy is at most ln n, near it untrained; trained heads look at something.",
                       "ln n - H about s^2/2 for scores of small standard deviation s; mass beside uniform rows",
                       "second-order expansion; Clark et al. 2019; Voita et al. 2019"});
  Random random(report.seed(), "patterns");
  entropy(claim, random);
  const TextData text(report.text(), {.context = kContext, .seed = report.seed()});
  Model model(text.vocab(), report.seed(), init::normal(0, 0.02), init::gpt2());
  const IndexArray ids = text.validation_batches(16, 16).front().inputs;
  const std::vector<Looks> before = looks_of(model, ids);
  double least = 1;
  for (const Looks& head : before) least = std::min(least, head.entropy_share);
  claim.at_least("untrained: least entropy / ln n over 8 heads", 0.99, least);
  train(model, 2 * report.steps(), [&](index_t step) { return text.train_batch(step, 8); });
  const std::vector<Looks> after = looks_of(model, ids);
  claim.at_least("trained on text: strongest head on the previous token, mass / uniform", 3,
                 strongest(after, &Looks::previous));
  claim.shown("on the same token earlier", 1.2, strongest(after, &Looks::same), Rule::at_least, 0);
  claim.shown("on the first token", 1.5, strongest(after, &Looks::first), Rule::at_least, 0);
  claim.remark(
      "The previous character tells most of the next one. That the same character stood somewhere among 32 "
      "tells little, and a small model trained for a short time need not form a first-token head.");
  Model finder(3 * kSymbols, report.seed(), init::normal(0, 1), {});
  train(finder, report.steps(), [&](index_t) { return colored(16, random); });
  const IndexArray symbols = colored(256, random).inputs;
  const std::vector<Looks> found = looks_of(finder, symbols, 3);
  claim.at_least("trained to recall colors: strongest head of those who ask on the same token earlier", 3,
                 strongest(found, &Looks::same));
  claim.plot({"What the heads of a model trained on text look at",
              "head (0-3: layer 0, 4-7: layer 1)",
              "mass / mass of a uniform row",
              false,
              true,
              {by_head("previous token", after, &Looks::previous),
               by_head("first token", after, &Looks::first),
               by_head("same token", after, &Looks::same),
               {"uniform", {0, 7}, {1, 1}, true}}});
  const std::size_t previous = strongest_head(after, &Looks::previous), same = strongest_head(found, &Looks::same);
  claim.picture(
      picture_of("Text, head " + std::to_string(previous) + ": strongest on the previous token", model, ids, previous));
  claim.picture(picture_of("Recalled colors, head " + std::to_string(same) + ": strongest on the same token", finder,
                           symbols, same));
}

}  // namespace xtape::theory
