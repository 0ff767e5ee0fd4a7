// Loss curves over two hundred steps against PyTorch's, from the same weights and batches.
#include "tables.hpp"

#include <xtape/models/char_rnn.hpp>
#include <xtape/optim/schedule.hpp>

#include <cstdio>

namespace xtape::test {

namespace {

constexpr index_t kSteps = 200, kBatch = 8, kTime = 16, kVocab = 30, kLength = 2000;

/// The training text; see families/training.py.
std::vector<index_t> sequence() {
  std::vector<index_t> s = {1, 2};
  for (std::uint32_t i = 2; i < kLength; ++i) {
    const bool odd = i * 2654435761u < 1u << 30;
    s.push_back((odd ? s[i - 2] + 5 : 7 * s[i - 1] + 3) % kVocab);
  }
  return s;
}

struct Batch {
  IndexArray ids, targets;
};

Batch batch(const std::vector<index_t>& text, index_t step) {
  const Shape shape = {kBatch, kTime};
  Batch out{empty_array<IndexArray>(shape), empty_array<IndexArray>(shape)};
  for (index_t row = 0; row < kBatch; ++row) {
    const index_t start = (step * kBatch + row) * 37 % (kLength - kTime - 1);
    std::copy_n(text.data() + start, kTime, out.ids.data() + row * kTime);
    std::copy_n(text.data() + start + 1, kTime, out.targets.data() + row * kTime);
  }
  return out;
}

/// The largest relative error of the losses along the curve.
double curve_error(const char* name, ParamStore& store, const std::function<Tensor(const IndexArray&)>& model,
                   Optimizer& optimizer, const std::function<double(index_t)>& rate) {
  const GoldenValues& values = golden_values(name);
  load_state(store, values);
  const std::vector<index_t> text = sequence();
  const std::vector<double>& wanted = values.get("out", "loss").numbers;
  double worst = 0;
  for (index_t step = 0; step < kSteps; ++step) {
    const Batch b = batch(text, step);
    Tape tape;
    const Tensor loss = cross_entropy(model(b.ids), b.targets);
    tape.backward(loss);
    clip_grad_norm(store, 1.0);
    REQUIRE(optimizer.step(rate(step)));
    store.zero_grad();
    const double want = wanted[step];
    worst = std::max(worst, std::abs(static_cast<double>(loss.item()) - want) / want);
  }
  return worst;
}

double gpt_error() {
  ParamStore store;
  const TransformerLM model(store.root(), {.vocab = kVocab, .context = kTime, .width = 32, .heads = 4, .layers = 2});
  AdamW optimizer(decay_groups(store, 0.1));
  const auto logits = [&](const IndexArray& ids) { return model(ids); };
  return curve_error("TransformerLM/200 steps", store, logits, optimizer, [](index_t step) {
    return cosine(step, {.warmup = 20, .total = kSteps, .peak = 3e-3, .floor = 3e-4});
  });
}

double lstm_error() {
  ParamStore store;
  const CharRNN model(store.root(), {.vocab = kVocab, .embedding = 16, .hidden = 32});
  Adam optimizer(all_parameters(store));
  const auto logits = [&](const IndexArray& ids) { return model(ids).logits; };
  return curve_error("CharRNN/200 steps", store, logits, optimizer, [](index_t) { return 1e-2; });
}

}  // namespace

GoldenErrors training_golden_errors() {
  return {{"TransformerLM/200 steps", gpt_error()}, {"CharRNN/200 steps", lstm_error()}};
}

TEST_CASE("small models follow PyTorch's loss curves") {
  for (const auto& [name, error] : training_golden_errors()) {
    std::printf("%s: worst relative error of the loss %.2e\n", name.c_str(), error);
    CHECK(error <= tolerance(1e-8, 1e-3));
  }
}

}  // namespace xtape::test
