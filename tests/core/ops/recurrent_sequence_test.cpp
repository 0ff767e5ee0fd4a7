// The fused recurrent ops over sequences: comparison with a loop of cells, lengths, direction, threads, retained tapes.
#include <xtape/core/threads.hpp>

#include "recurrent_kinds.hpp"

#include <limits>
#include <map>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("the fused sequence and a loop of cells agree in values, all gradients and per-step norms") {
  constexpr index_t B = 3, I = 2, H = 5;
  constexpr index_t T = 6;
  const Limits limits = {kFused, kFused};
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    Layer layer(kind.gates, I, H);
    const Array x0 = sample({B, T, I}, 11), h0 = sample({B, H}, 12), c0 = sample({B, H}, 13);
    const auto loss_of = [&](const Tensor& y, const RecurrentSequence& last) {
      Tensor loss = weighted(y, 21) + weighted(last.h, 22);
      return kind.cells ? loss + weighted(last.c, 23) : loss;
    };

    Tape fused({.record_step_norms = true});
    const Tensor x = fused.variable(x0), h = fused.variable(h0), c = fused.variable(c0);
    const RecurrentSequence got = kind.sequence(x, h, c, layer.weights(), {.name = "layer"});
    fused.backward(loss_of(got.y, got));
    const std::vector<Array> weight_grads = layer.take_grads();

    Tape loop;
    const Tensor x2 = loop.variable(x0), h2 = loop.variable(h0), c2 = loop.variable(c0);
    RecurrentSequence state = {{}, h2, c2};
    std::vector<Tensor> outputs;
    for (index_t t = 0; t < T; ++t) {
      state = kind.cell(step_of(x2, t), state.h, state.c, layer.weights());
      loop.watch(state.h, "layer", t);
      outputs.push_back(reshape(state.h, {B, 1, H}));
    }
    const Tensor y = concat(outputs, 1);
    loop.backward(loss_of(y, state));

    check_near(got.y.value(), y.value(), limits);
    check_near(got.h.value(), state.h.value(), limits);
    if (kind.cells) check_near(got.c.value(), state.c.value(), limits);
    check_near(fused.grad(x), loop.grad(x2), limits);
    check_near(fused.grad(h), loop.grad(h2), limits);
    check_near(fused.grad(c), loop.grad(c2), limits);
    const std::vector<Array> loop_grads = layer.take_grads();
    for (std::size_t i = 0; i < loop_grads.size(); ++i) check_near(weight_grads[i], loop_grads[i], limits);

    std::map<index_t, double> norms;
    for (const GradNorm& grad_norms : fused.grad_norms()) {
      CHECK(grad_norms.name == "layer");
      if (grad_norms.stream == "hidden") norms[grad_norms.time] = grad_norms.norm;
    }
    REQUIRE(loop.grad_norms().size() == T);
    CHECK(norms.size() == T);
    for (const GradNorm& grad_norms : loop.grad_norms()) check_near(norms[grad_norms.time], grad_norms.norm, limits);
  }
}

TEST_CASE("cell-state gradients of the fused LSTM equal those of an LSTM composed of single ops") {
  constexpr index_t B = 2, I = 3, H = 4;
  constexpr index_t T = 5;
  Layer layer(4, I, H);
  const Array x0 = sample({B, T, I}, 31);

  std::map<index_t, Array> cells;
  std::vector<index_t> order;
  Tape fused;
  fused.on_step_grad([&](const StepGrad& step) {
    if (step.stream == "cell") cells[step.time] = step.grad;
    else order.push_back(step.time);
  });
  const RecurrentSequence s = lstm(fused.variable(x0), {}, {}, layer.weights());
  fused.backward(weighted(s.y, 32) + weighted(s.c, 33));
  CHECK(order == std::vector<index_t>{4, 3, 2, 1, 0});
  layer.take_grads();

  std::map<index_t, Array> wanted;
  Tape loop;
  const Tensor x = loop.variable(x0);
  Tensor h = Tensor::zeros({B, H}), c = Tensor::zeros({B, H});
  std::vector<Tensor> outputs;
  for (index_t t = 0; t < T; ++t) {
    const Tensor a = linear(step_of(x, t), layer.weight_ih, layer.bias_ih) + linear(h, layer.weight_hh, layer.bias_hh);
    const auto gate = [&](index_t i) {
      return slice(a, 1, i * static_cast<index_t>(H), (i + 1) * static_cast<index_t>(H));
    };
    c = sigmoid(gate(1)) * c + sigmoid(gate(0)) * tanh(gate(2));
    h = sigmoid(gate(3)) * tanh(c);
    loop.on_grad(c, [&wanted, t](const Array& grad) { wanted[t] = grad; });
    outputs.push_back(reshape(h, {B, 1, H}));
  }
  const Tensor y = concat(outputs, 1);
  check_near(s.y.value(), y.value(), {kFused, kFused});
  loop.backward(weighted(y, 32) + weighted(c, 33));
  for (index_t t = 0; t < T; ++t) check_near(cells.at(t), wanted.at(t), {kFused, kFused});
}

TEST_CASE("step gradients are computed only on request") {
  Layer layer(4, 2, 3);
  const auto run = [&](TapeOptions options) {
    Tape tape(options);
    tape.backward(sum(lstm(Tensor(sample({2, 4, 2}, 41)), {}, {}, layer.weights()).y));
    layer.take_grads();
    return std::pair(tape.step_grads(), tape.grad_norms().size());
  };
  CHECK(run({}) == std::pair<index_t, std::size_t>(0, 0));
  CHECK(run({.record_step_norms = true}) == std::pair<index_t, std::size_t>(8, 8));
}

TEST_CASE("a batch with lengths equals each sequence run alone, in both directions") {
  constexpr index_t I = 2, H = 3, B = 5, T = 6;
  const IndexArray lengths = {4, 0, 6, 1, 4};
  const Limits limits = {kFused, kFused};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Kind& kind : kinds()) {
    for (const bool reverse : {false, true}) {
      INFO(kind.name, reverse ? " reverse" : "");
      Layer layer(kind.gates, I, H);
      Array x0 = sample({B, T, I}, 61);
      for (std::size_t b = 0; b < B; ++b)
        for (auto t = static_cast<std::size_t>(lengths(b)); t < T; ++t)
          x0(b, t, 0) = x0(b, t, 1) = static_cast<real>(nan);
      const Array h0 = sample({B, H}, 62), c0 = sample({B, H}, 63);
      const Array weights_y = sample({B, T, H}, 64), weights_h = sample({B, H}, 65);
      Tape tape;
      const Tensor x = tape.variable(x0), h = tape.variable(h0), c = tape.variable(c0);
      const RecurrentSequence all = kind.sequence(x, h, c, layer.weights(), {.lengths = lengths, .reverse = reverse});
      tape.backward(sum(all.y * Tensor(weights_y)) + sum(all.h * Tensor(weights_h)));
      const Array dx = tape.grad(x), dh = tape.grad(h);
      const std::vector<Array> batch_grads = layer.take_grads();

      for (std::size_t b = 0; b < B; ++b) {
        const index_t at = static_cast<index_t>(b), length = lengths(b);
        const auto cut = [&](const Array& a) { return slice(slice(a, 0, at, at + 1), 1, 0, length).value(); };
        const auto pick = [&](const Array& a) { return slice(a, 0, at, at + 1).value(); };
        Tape single;
        const Tensor x1 = single.variable(cut(x0)), h1 = single.variable(pick(h0)), c1 = pick(c0);
        const RecurrentSequence one = kind.sequence(x1, h1, c1, layer.weights(), {.reverse = reverse});
        single.backward(sum(one.y * Tensor(cut(weights_y))) + sum(one.h * Tensor(pick(weights_h))));
        check_near(cut(all.y.value()), one.y.value(), limits);
        check_near(pick(all.h.value()), one.h.value(), limits);
        if (kind.cells) check_near(pick(all.c.value()), one.c.value(), limits);
        check_near(cut(dx), single.grad(x1), limits);
        check_near(pick(dh), single.grad(h1), limits);
        for (auto t = static_cast<std::size_t>(length); t < T; ++t) {
          for (std::size_t j = 0; j < H; ++j) CHECK(all.y.value()(b, t, j) == 0);
          for (std::size_t j = 0; j < I; ++j) CHECK(dx(b, t, j) == 0);
        }
        if (length == 0) check_equal(pick(all.h.value()), pick(h0));
        if (length == 0) check_equal(pick(dh), pick(weights_h));
      }
      // The weight gradients of the single runs were summed.
      const std::vector<Array> single_grads = layer.take_grads();
      for (std::size_t i = 0; i < batch_grads.size(); ++i) check_near(batch_grads[i], single_grads[i], limits);
    }
  }
}

TEST_CASE("reverse equals the forward direction on the reversed sequence") {
  Layer layer(3, 2, 4);
  const Array x = sample({2, 5, 2}, 71);
  Array flipped = empty_array(x.shape());
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < 5; ++t)
      for (std::size_t j = 0; j < 2; ++j) flipped(b, t, j) = x(b, 4 - t, j);
  const RecurrentSequence reversed = gru(x, {}, layer.weights(), GruReset::after, {.reverse = true});
  const RecurrentSequence forward = gru(flipped, {}, layer.weights());
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < 5; ++t)
      for (std::size_t j = 0; j < 4; ++j) CHECK(reversed.y.value()(b, t, j) == forward.y.value()(b, 4 - t, j));
  check_equal(reversed.h.value(), forward.h.value());
  std::vector<index_t> order;
  Tape tape;
  tape.on_step_grad([&](const StepGrad& step) { order.push_back(step.time); });
  tape.backward(sum(gru(tape.variable(x), {}, layer.weights(), GruReset::after, {.reverse = true}).y));
  CHECK(order == std::vector<index_t>{0, 1, 2, 3, 4});
}

TEST_CASE("recurrent results have the same bits for any number of threads") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    Layer layer(kind.gates, 3, 40);
    IndexArray lengths = empty_array<IndexArray>({50});
    for (std::size_t b = 0; b < 50; ++b) lengths(b) = static_cast<index_t>(b * 7 % 9);
    const auto run = [&](int count) {
      const int before = threads();
      set_threads(count);
      Tape tape;
      const Tensor x = tape.variable(sample({50, 8, 3}, 81));
      const RecurrentSequence s = kind.sequence(x, {}, {}, layer.weights(), {.lengths = lengths});
      tape.backward(weighted(s.y, 82));
      std::vector<Array> out = layer.take_grads();
      out.push_back(s.y.value());
      out.push_back(tape.grad(x));
      set_threads(before);
      return out;
    };
    const std::vector<Array> one = run(1), three = run(3);
    for (std::size_t i = 0; i < one.size(); ++i) check_equal(one[i], three[i]);
  }
}

TEST_CASE("a tape that keeps its backward functions runs a recurrent op again") {
  Layer layer(4, 2, 3);
  Tape tape({.retain_graph = true});
  const Tensor x = tape.variable(sample({2, 3, 2}, 91));
  const RecurrentSequence s = lstm(x, {}, {}, layer.weights());
  const auto run = [&](std::uint64_t seed) {
    tape.backward(s.y, sample(s.y.shape(), seed));
    return tape.grad(x);
  };
  const Array first = run(92), second = run(93);
  check_equal(run(92), first);
  CHECK(difference(second, first, {}) != "");
}

TEST_CASE("empty batches, no steps and one step") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    Layer layer(kind.gates, 2, 3);
    const auto run = [&](index_t batch, index_t time) {
      Tape tape;
      const Tensor h = tape.variable(sample({batch, 3}, 101));
      const RecurrentSequence s = kind.sequence(Tensor(sample({batch, time, 2}, 102)), h, {}, layer.weights(), {});
      CHECK(s.y.shape() == Shape{batch, time, 3});
      tape.backward(sum(s.h));
      if (time == 0) check_equal(s.h.value(), h.value());
      if (time == 0) check_equal(tape.grad(h), filled({batch, 3}, 1));
      for (const Parameter& p : layer.all()) {
        if (batch * time > 0) continue;
        CHECK(p.has_grad());
        check_equal(p.grad(), filled(p.shape(), 0));
      }
      layer.take_grads();
    };
    run(2, 0);
    run(0, 4);
    run(1, 1);
  }
}
