#include <xtape/nn/attention_rnn.hpp>

#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("AttentionRNN: the first step equals the cell alone, and later steps have no influence on earlier ones") {
  for (const ScoreKind score : {ScoreKind::dot, ScoreKind::scaled_dot, ScoreKind::additive}) {
    ParamStore store(3);
    const AttentionRNN layer(store.root() / "past", 3, 5, {.score = score});
    const Array x = sample({2, 6, 3}, 1);
    const Tensor y = layer(Tensor(x));
    const Parameter wi = store.parameter("past.cell.weight_ih"), bi = store.parameter("past.cell.bias_ih");
    const Tensor first = tanh(linear(squeeze(slice(Tensor(x), 1, 0, 1), {1}), wi,
                                     bi.tensor() + store.parameter("past.cell.bias_hh").tensor()));
    check_near(squeeze(slice(y, 1, 0, 1), {1}).value(), first.value(),
               {tolerance(1e-12, 1e-5), tolerance(1e-13, 1e-6)});
    Array changed = x;
    for (std::size_t c = 0; c < 3; ++c) changed(0, 4, c) = changed(1, 5, c) = 9;
    check_equal(steps(layer(Tensor(changed)), 0, 4), steps(y, 0, 4));
  }
  ParamStore store;
  check_throws<ValueError>([&] { AttentionRNN(store.root(), 0, 5); }, "at least 1");
  const AttentionRNN layer(store.root() / "a", 3, 5);
  check_throws<ShapeError>([&] { layer(Tensor::ones({2, 3})); },
                           "[attention_rnn] expected x [B, T, I] with T at least 1, got");
}

TEST_CASE("AttentionRNN: a gradient reaches 100 steps back through a contracting cell") {
  const index_t steps_back = 100, hidden = 8;
  const auto gradient_at_start = [&](bool attends) {
    ParamStore store(3);
    const RecurrentInit contracting = {
        .input = init::normal(0, 0.5), .recurrent = init::orthogonal(0.5), .bias = init::zeros()};
    const RNN plain(store.root() / "plain", 2, hidden, {.init = contracting});
    const AttentionRNN past(store.root() / "past", 2, hidden, {.init = contracting});
    Tape tape;
    const Tensor x = tape.variable(sample({1, steps_back + 1, 2}, 1));
    const Tensor y = attends ? past(x) : plain(x).y;
    tape.backward(sum(slice(y, 1, static_cast<index_t>(steps_back)) * Tensor(sample({1, 1, hidden}, 2))));
    const Array grad = tape.grad(x);
    return std::hypot(static_cast<double>(grad(0, 0, 0)), static_cast<double>(grad(0, 0, 1)));
  };
  const double plain = gradient_at_start(false), past = gradient_at_start(true);
  INFO("gradient at lag 100: plain ", plain, ", with attention ", past);
  CHECK(plain < 1e-20);
  CHECK(past > 1e-6);
}

TEST_CASE("AttentionRNN recalls an input that a plain RNN has forgotten") {
  // The first step shows one of 4 signs, then follow 25 steps of noise, and the last step asks for the sign.
  const auto loss_after_training = [](bool attends) {
    ParamStore store(3);
    const RNN plain(store.root() / "plain", 6, 16);
    const AttentionRNN past(store.root() / "past", 6, 16, {.score = ScoreKind::additive});
    const Linear head(store.root() / "head", 16, 4);
    AdamW optimizer(decay_groups(store, 0.0));
    double late = 0;
    for (index_t step = 0; step < 200; ++step) {
      Random random(5, static_cast<std::uint64_t>(step));
      Array x = Tensor::zeros({16, 27, 6}).value();
      IndexArray signs = empty_array<IndexArray>({16});
      for (std::size_t b = 0; b < 16; ++b) {
        signs(b) = random.below(4);
        x(b, 0, static_cast<std::size_t>(signs(b))) = 1;
        for (std::size_t t = 1; t < 26; ++t) x(b, t, 4) = static_cast<real>(random.normal());
        x(b, 26, 5) = 1;
      }
      Tape tape;
      const Tensor y = attends ? past(Tensor(x)) : plain(Tensor(x)).y;
      const Tensor loss = cross_entropy(head(squeeze(slice(y, 1, 26), {1})), signs);
      tape.backward(loss);
      clip_grad_norm(store, 1);
      optimizer.step(5e-3);
      store.zero_grad();
      if (step >= 180) late += static_cast<double>(loss.item()) / 20;
    }
    return late;
  };
  const double plain = loss_after_training(false), past = loss_after_training(true);
  INFO("loss: plain ", plain, ", with attention ", past, ", guessing ", std::log(4.0));
  CHECK(plain > 1);
  CHECK(past < 0.1);
}
