// Recurrent ops: known numbers, lengths, direction, and the fused sequence against a loop of cells.
#include <xtape/core/gradcheck.hpp>
#include <xtape/core/kernels/threads.hpp>

#include "support.hpp"

#include <functional>
#include <limits>
#include <map>

using namespace xtape;
using namespace xtape::test;

namespace {

constexpr double kFused = tolerance(1e-12, 2e-5);
const Limits kNumbers = {tolerance(1e-9, 1e-6), tolerance(1e-9, 1e-6)};

/// Parameters of one layer, random; `gates` blocks.
struct Layer {
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;

  Layer(std::size_t gates, std::size_t inputs, std::size_t hidden)
      : weight_ih("weight_ih", sample({gates * hidden, inputs}, 1)),
        weight_hh("weight_hh", sample({gates * hidden, hidden}, 2)),
        bias_ih("bias_ih", sample({gates * hidden}, 3)),
        bias_hh("bias_hh", sample({gates * hidden}, 4)) {}

  RecurrentWeights weights() const { return {weight_ih, weight_hh, bias_ih, bias_hh}; }
  std::vector<Parameter> all() const { return {weight_ih, weight_hh, bias_ih, bias_hh}; }
  std::vector<Array> take_grads() {
    std::vector<Array> out;
    for (Parameter p : all()) {
      out.push_back(p.grad());
      p.zero_grad();
    }
    return out;
  }
};

/// The same interface for every kind of recurrent op: states in, states out, c empty unless there is one.
struct States {
  Tensor y, h, c;
};
struct Kind {
  const char* name;
  std::size_t gates;
  bool cells;
  std::function<States(const Tensor& x, const Tensor& h, const Tensor& c, const RecurrentWeights&,
                       const SequenceOptions&)>
      sequence;
  std::function<States(const Tensor& x, const Tensor& h, const Tensor& c, const RecurrentWeights&)> cell;
};

Kind rnn_kind(const char* name, const RnnForm& form) {
  return {name, 1, false,
          [form](const Tensor& x, const Tensor& h, const Tensor&, const RecurrentWeights& w,
                 const SequenceOptions& o) -> States {
            const HiddenSequence s = rnn(x, h, w, form, o);
            return {s.y, s.h, {}};
          },
          [form](const Tensor& x, const Tensor& h, const Tensor&, const RecurrentWeights& w) -> States {
            const Tensor next = rnn_cell(x, h, w, form);
            return {next, next, {}};
          }};
}

Kind gru_kind(const char* name, GruReset reset) {
  return {name, 3, false,
          [reset](const Tensor& x, const Tensor& h, const Tensor&, const RecurrentWeights& w,
                  const SequenceOptions& o) -> States {
            const HiddenSequence s = gru(x, h, w, reset, o);
            return {s.y, s.h, {}};
          },
          [reset](const Tensor& x, const Tensor& h, const Tensor&, const RecurrentWeights& w) -> States {
            const Tensor next = gru_cell(x, h, w, reset);
            return {next, next, {}};
          }};
}

Kind lstm_kind() {
  return {"lstm", 4, true,
          [](const Tensor& x, const Tensor& h, const Tensor& c, const RecurrentWeights& w,
             const SequenceOptions& o) -> States {
            const LstmSequence s = lstm(x, h, c, w, o);
            return {s.y, s.h, s.c};
          },
          [](const Tensor& x, const Tensor& h, const Tensor& c, const RecurrentWeights& w) -> States {
            const LstmStep s = lstm_cell(x, h, c, w);
            return {s.h, s.h, s.c};
          }};
}

std::vector<Kind> kinds() {
  return {rnn_kind("rnn tanh", {}),
          rnn_kind("rnn relu", {Nonlinearity::relu}),
          rnn_kind("rnn sigmoid", {Nonlinearity::sigmoid}),
          rnn_kind("rnn tanh outside", {Nonlinearity::tanh, NonlinearityPlace::outside}),
          rnn_kind("rnn relu outside", {Nonlinearity::relu, NonlinearityPlace::outside}),
          rnn_kind("rnn sigmoid outside", {Nonlinearity::sigmoid, NonlinearityPlace::outside}),
          gru_kind("gru", GruReset::after),
          gru_kind("gru, reset before", GruReset::before),
          lstm_kind()};
}

/// Step t of x [B, T, I].
Tensor step_of(const Tensor& x, index_t t) { return reshape(slice(x, 1, t, t + 1), {x.extent(0), x.extent(2)}); }

/// sum(weights * x) with fixed random weights.
Tensor weighted(const Tensor& x, std::uint64_t seed) { return sum(x * Tensor(sample(x.shape(), seed))); }

Array filled(const Shape& shape, double value) {
  Array out(shape);
  std::fill(out.begin(), out.end(), static_cast<real>(value));
  return out;
}

}  // namespace

TEST_CASE("GRU: the reset gate after the product by default, before it as an option (O-30)") {
  const RecurrentWeights w = {array({3, 1}, {.1, .2, .3}), array({3, 1}, {.4, .5, .6}), row({.01, .02, .03}),
                              row({.04, .05, .06})};
  const auto steps = [&](GruReset reset, double first, double second) {
    const Tensor h = gru_cell(array({1, 1}, {1}), array({1, 1}, {.5}), w, reset);
    check_near(static_cast<double>(h.item()), first, kNumbers);
    check_near(static_cast<double>(gru_cell(array({1, 1}, {-2}), h, w, reset).item()), second, kNumbers);
    const HiddenSequence s = gru(array({1, 2, 1}, {1, -2}), array({1, 1}, {.5}), w, reset);
    check_near(s.y.value(), array({1, 2, 1}, {first, second}), kNumbers);
  };
  steps(GruReset::after, 0.4977190480, 0.0472286743);
  steps(GruReset::before, 0.5046251375, 0.0656428590);
}

TEST_CASE("LSTM: gates in the order i, f, g, o (O-30)") {
  const RecurrentWeights w = {array({4, 1}, {.1, .2, .3, .4}), array({4, 1}, {.5, .6, .7, .8}),
                              row({.01, .02, .03, .04}), row({.05, .06, .07, .08})};
  const LstmSequence s = lstm(array({1, 2, 1}, {1, -2}), array({1, 1}, {.5}), array({1, 1}, {.25}), w);
  check_near(s.y.value(), array({1, 2, 1}, {0.3536140968, 0.0521783551}), kNumbers);
  check_near(static_cast<double>(s.c.item()), 0.1305309036, kNumbers);
  const LstmStep first = lstm_cell(array({1, 1}, {1}), array({1, 1}, {.5}), array({1, 1}, {.25}), w);
  check_near(static_cast<double>(first.c.item()), 0.5420471881, kNumbers);
}

TEST_CASE("sequences of different length in one batch (O-31)") {
  const RecurrentWeights w = {array({1, 1}, {.5}), array({1, 1}, {.8}), row({.3}), {}};
  const IndexArray lengths = {3, 1};
  const auto run = [&](double padding) {
    Tape tape;
    const Tensor x = tape.variable(array({2, 3, 1}, {1, 2, 3, 1, padding, padding}));
    const HiddenSequence s = rnn(x, {}, w, {}, {.lengths = lengths});
    check_near(s.h.value(), array({2, 1}, {0.9881179391, 0.6640367703}), kNumbers);
    CHECK(s.y.value()(1, 1, 0) == 0);
    CHECK(s.y.value()(1, 2, 0) == 0);
    tape.backward(sum(s.h));
    const Array dx = tape.grad(x);
    check_near(dx, array({2, 3, 1}, {0.0004124755, 0.0009222603, 0.0118114692, 0.2795275839, 0, 0}), kNumbers);
    CHECK(dx(1, 1, 0) == 0);
    CHECK(dx(1, 2, 0) == 0);
    return dx;
  };
  const Array dx = run(0);
  check_equal(run(1e6), dx);
  check_equal(run(std::numeric_limits<double>::quiet_NaN()), dx);
}

TEST_CASE("the fused sequence and a loop of cells agree in values, all gradients and per-step norms") {
  constexpr std::size_t B = 3, I = 2, H = 5;
  constexpr index_t T = 6;
  const Limits limits = {kFused, kFused};
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    Layer layer(kind.gates, I, H);
    const Array x0 = sample({B, T, I}, 11), h0 = sample({B, H}, 12), c0 = sample({B, H}, 13);
    const auto loss_of = [&](const Tensor& y, const States& last) {
      Tensor loss = weighted(y, 21) + weighted(last.h, 22);
      return kind.cells ? loss + weighted(last.c, 23) : loss;
    };

    Tape fused({.watch_steps = true});
    const Tensor x = fused.variable(x0), h = fused.variable(h0), c = fused.variable(c0);
    const States got = kind.sequence(x, h, c, layer.weights(), {.name = "layer"});
    fused.backward(loss_of(got.y, got));
    const std::vector<Array> weight_grads = layer.take_grads();

    Tape loop;
    const Tensor x2 = loop.variable(x0), h2 = loop.variable(h0), c2 = loop.variable(c0);
    States state = {{}, h2, c2};
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
    for (const Watched& watched : fused.watched()) {
      CHECK(watched.name == "layer");
      if (watched.kind == GradKind::hidden) norms[watched.time] = watched.norm;
    }
    REQUIRE(loop.watched().size() == T);
    CHECK(norms.size() == T);
    for (const Watched& watched : loop.watched()) check_near(norms[watched.time], watched.norm, limits);
  }
}

TEST_CASE("cell-state gradients of the fused LSTM equal those of one composed of small ops") {
  constexpr std::size_t B = 2, I = 3, H = 4;
  constexpr index_t T = 5;
  Layer layer(4, I, H);
  const Array x0 = sample({B, T, I}, 31);

  std::map<index_t, Array> cells;
  std::vector<index_t> order;
  Tape fused;
  fused.on_step_grad([&](const StepGrad& step) {
    if (step.kind == GradKind::cell) cells[step.time] = step.grad;
    else order.push_back(step.time);
  });
  const LstmSequence s = lstm(fused.variable(x0), {}, {}, layer.weights());
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

TEST_CASE("no step gradient is made unless somebody asks") {
  Layer layer(4, 2, 3);
  const auto run = [&](TapeOptions options) {
    Tape tape(options);
    tape.backward(sum(lstm(Tensor(sample({2, 4, 2}, 41)), {}, {}, layer.weights()).y));
    layer.take_grads();
    return std::pair(tape.step_grads(), tape.watched().size());
  };
  CHECK(run({}) == std::pair<index_t, std::size_t>(0, 0));
  CHECK(run({.watch_steps = true}) == std::pair<index_t, std::size_t>(8, 8));
}

TEST_CASE("both places of the nonlinearity are one network under g = s(h) (R1)") {
  Layer layer(1, 3, 4);
  const Array x = sample({2, 7, 3}, 51), h0 = sample({2, 4}, 52, 0.1, 1);
  const Limits limits = {tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-6)};
  const auto map = [](Nonlinearity f, const Tensor& t) {
    return f == Nonlinearity::tanh ? tanh(t) : f == Nonlinearity::relu ? relu(t) : sigmoid(t);
  };
  for (const Nonlinearity f : {Nonlinearity::tanh, Nonlinearity::relu, Nonlinearity::sigmoid}) {
    const auto run = [&](NonlinearityPlace place) {
      Tape tape;
      const Tensor start = place == NonlinearityPlace::inside ? map(f, Tensor(h0)) : Tensor(h0);
      const Tensor y = rnn(tape.variable(x), start, layer.weights(), {f, place}).y;
      const Tensor g = place == NonlinearityPlace::inside ? y : map(f, y);
      tape.backward(weighted(g, 53));
      std::vector<Array> out = layer.take_grads();
      out.push_back(g.value());
      return out;
    };
    const std::vector<Array> inside = run(NonlinearityPlace::inside), outside = run(NonlinearityPlace::outside);
    for (std::size_t i = 0; i < inside.size(); ++i) check_near(inside[i], outside[i], limits);
  }
  // With both starts zero, sigmoid differs: sigmoid(0) is not 0.
  const Array inside = rnn(x, {}, layer.weights(), {Nonlinearity::sigmoid}).y.value();
  const Array outside =
      sigmoid(rnn(x, {}, layer.weights(), {Nonlinearity::sigmoid, NonlinearityPlace::outside}).y).value();
  CHECK(std::abs(inside.data()[0] - outside.data()[0]) > 1e-3);
}

TEST_CASE("a batch of lengths equals each sequence run alone, in both directions") {
  constexpr std::size_t I = 2, H = 3, B = 5, T = 6;
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
      const States all = kind.sequence(x, h, c, layer.weights(), {.lengths = lengths, .reverse = reverse});
      tape.backward(sum(all.y * Tensor(weights_y)) + sum(all.h * Tensor(weights_h)));
      const Array dx = tape.grad(x), dh = tape.grad(h);
      const std::vector<Array> batch_grads = layer.take_grads();

      for (std::size_t b = 0; b < B; ++b) {
        const index_t at = static_cast<index_t>(b), length = lengths(b);
        const auto cut = [&](const Array& a) { return slice(slice(a, 0, at, at + 1), 1, 0, length).value(); };
        const auto pick = [&](const Array& a) { return slice(a, 0, at, at + 1).value(); };
        Tape single;
        const Tensor x1 = single.variable(cut(x0)), h1 = single.variable(pick(h0)), c1 = pick(c0);
        const States one = kind.sequence(x1, h1, c1, layer.weights(), {.reverse = reverse});
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
      // The single runs added their weight gradients up.
      const std::vector<Array> single_grads = layer.take_grads();
      for (std::size_t i = 0; i < batch_grads.size(); ++i) check_near(batch_grads[i], single_grads[i], limits);
    }
  }
}

TEST_CASE("reverse is the forward direction on the reversed sequence") {
  Layer layer(3, 2, 4);
  const Array x = sample({2, 5, 2}, 71);
  Array flipped(x.shape());
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < 5; ++t)
      for (std::size_t j = 0; j < 2; ++j) flipped(b, t, j) = x(b, 4 - t, j);
  const HiddenSequence reversed = gru(x, {}, layer.weights(), GruReset::after, {.reverse = true});
  const HiddenSequence forward = gru(flipped, {}, layer.weights());
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
    IndexArray lengths(Shape{50});
    for (std::size_t b = 0; b < 50; ++b) lengths(b) = static_cast<index_t>(b * 7 % 9);
    const auto run = [&](int count) {
      const int before = threads();
      set_threads(count);
      Tape tape;
      const Tensor x = tape.variable(sample({50, 8, 3}, 81));
      const States s = kind.sequence(x, {}, {}, layer.weights(), {.lengths = lengths});
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

TEST_CASE("a tape that keeps its rules runs a recurrent op again") {
  Layer layer(4, 2, 3);
  Tape tape({.keep_rules = true});
  const Tensor x = tape.variable(sample({2, 3, 2}, 91));
  const LstmSequence s = lstm(x, {}, {}, layer.weights());
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
    const auto run = [&](std::size_t batch, std::size_t time) {
      Tape tape;
      const Tensor h = tape.variable(sample({batch, 3}, 101));
      const States s = kind.sequence(Tensor(sample({batch, time, 2}, 102)), h, {}, layer.weights(), {});
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

TEST_CASE("GRU: z at keep carries the state unchanged, z at update with r at 0 forgets it (R4)") {
  const std::size_t H = 3;
  const Array h = sample({2, H}, 111), other = sample({2, H}, 112), x = sample({2, 2}, 113);
  const auto gated = [&](double r, double z) {
    Array bias = filled({3 * H}, 0);
    for (std::size_t j = 0; j < H; ++j) {
      bias(j) = static_cast<real>(r);
      bias(H + j) = static_cast<real>(z);
    }
    return RecurrentWeights{sample({3 * H, 2}, 114), sample({3 * H, H}, 115), bias, {}};
  };
  check_near(gru_cell(x, h, gated(0, 40)).value(), h, {0, tolerance(1e-15, 1e-7)});
  const Array forgot = gru_cell(x, h, gated(-40, -40)).value();
  check_near(forgot, gru_cell(x, other, gated(-40, -40)).value(), {0, tolerance(1e-15, 1e-7)});
  CHECK(difference(gru_cell(x, h, gated(-4, -4)).value(), gru_cell(x, other, gated(-4, -4)).value(), {0, 1e-3}) != "");
}

TEST_CASE("LSTM: zero input does not keep the state, and gradient passes a closed forget gate (R5)") {
  const std::size_t H = 3;
  Layer layer(4, 2, H);
  const Array h = sample({2, H}, 121), c = sample({2, H}, 122);
  const LstmStep next = lstm_cell(Tensor::zeros({2, 2}), h, c, {layer.weight_ih, layer.weight_hh});
  CHECK(difference(next.h.value(), h, {0, 1e-2}) != "");
  Array bias = filled({4 * H}, 0);
  for (std::size_t j = 0; j < H; ++j) bias(H + j) = -40;
  Tape tape;
  const Tensor h0 = tape.variable(h), c0 = tape.variable(c);
  tape.backward(sum(lstm_cell(Tensor(sample({2, 2}, 123)), h0, c0, {layer.weight_ih, layer.weight_hh, bias, {}}).h));
  const Array dh = tape.grad(h0), dc = tape.grad(c0);
  for (std::size_t i = 0; i < dh.size(); ++i) {
    CHECK(std::abs(dh.data()[i]) > 1e-3);
    CHECK(std::abs(dc.data()[i]) < 1e-15);
  }
}

TEST_CASE("recurrent ops refuse shapes and lengths that do not fit") {
  Layer layer(4, 2, 3);
  const RecurrentWeights w = layer.weights();
  const Tensor x = sample({2, 5, 2}, 131), state = sample({2, 3}, 132);
  const auto with_lengths = [&](const IndexArray& lengths) { lstm(x, {}, {}, w, {.lengths = lengths}); };
  check_throws<ShapeError>(
      [&] {
        with_lengths({1, 2, 3});
      },
      "[lstm] there must be one length for each of 2 sequences; got shape (3)");
  check_throws<ShapeError>([&] { with_lengths({{1, 2}}); }, "one length for each of 2 sequences; got shape (1,2)");
  check_throws<IndexError>([&] { with_lengths({1, 6}); }, "[lstm] the length 6 is outside 0..5");
  check_throws<IndexError>([&] { with_lengths({-1, 5}); }, "[lstm] the length -1 is outside 0..5");
  check_throws<ShapeError>([&] { lstm(state, {}, {}, w); }, "[lstm] the input must be [B, T, I]; got shape (2,3)");
  check_throws<ShapeError>([&] { lstm_cell(x, {}, {}, w); }, "[lstm_cell] the input must be [B, I]; got shape (2,5,2)");
  check_throws<ShapeError>([&] { gru(x, {}, w); }, "[gru] weight_hh must be [3 H, H]; got shape (12,3)");
  check_throws<ShapeError>(
      [&] {
        rnn(Tensor(sample({2, 5, 3}, 133)), {}, {sample({3, 2}, 1), sample({3, 3}, 2)});
      },
      "[rnn] weight_ih must have shape (3,3); got shape (3,2)");
  check_throws<ShapeError>(
      [&] {
        lstm(x, {}, {}, {w.weight_ih, w.weight_hh, state});
      },
      "[lstm] bias_ih must have shape (12); got shape (2,3)");
  check_throws<ShapeError>(
      [&] {
        lstm(x, {}, {}, {w.weight_ih, w.weight_hh, {}, state});
      },
      "[lstm] bias_hh must have shape (12); got shape (2,3)");
  check_throws<ShapeError>(
      [&] {
        lstm(x, Tensor(sample({3, 3}, 1)), {}, w);
      },
      "[lstm] the hidden state must have shape (2,3); got shape (3,3)");
  check_throws<ShapeError>(
      [&] {
        lstm(x, {}, Tensor(sample({2, 4}, 1)), w);
      },
      "[lstm] the cell state must have shape (2,3); got shape (2,4)");
}
