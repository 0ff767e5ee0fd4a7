// Recurrent ops: known values, gates, lengths and errors.
#include "recurrent_kinds.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("GRU: the reset gate acts after the product by default, before it as an option") {
  const RecurrentWeights w = {array({3, 1}, {.1, .2, .3}), array({3, 1}, {.4, .5, .6}), row({.01, .02, .03}),
                              row({.04, .05, .06})};
  const auto steps = [&](GruReset reset, double first, double second) {
    const Tensor h = gru_cell(array({1, 1}, {1}), array({1, 1}, {.5}), w, reset);
    check_near(static_cast<double>(h.item()), first, kNumbers);
    check_near(static_cast<double>(gru_cell(array({1, 1}, {-2}), h, w, reset).item()), second, kNumbers);
    const RecurrentSequence s = gru(array({1, 2, 1}, {1, -2}), array({1, 1}, {.5}), w, reset);
    check_near(s.y.value(), array({1, 2, 1}, {first, second}), kNumbers);
  };
  steps(GruReset::after, 0.4977190480, 0.0472286743);
  steps(GruReset::before, 0.5046251375, 0.0656428590);
}

TEST_CASE("LSTM: gates in the order i, f, g, o") {
  const RecurrentWeights w = {array({4, 1}, {.1, .2, .3, .4}), array({4, 1}, {.5, .6, .7, .8}),
                              row({.01, .02, .03, .04}), row({.05, .06, .07, .08})};
  const RecurrentSequence s = lstm(array({1, 2, 1}, {1, -2}), array({1, 1}, {.5}), array({1, 1}, {.25}), w);
  check_near(s.y.value(), array({1, 2, 1}, {0.3536140968, 0.0521783551}), kNumbers);
  check_near(static_cast<double>(s.c.item()), 0.1305309036, kNumbers);
  const LstmStep first = lstm_cell(array({1, 1}, {1}), array({1, 1}, {.5}), array({1, 1}, {.25}), w);
  check_near(static_cast<double>(first.c.item()), 0.5420471881, kNumbers);
}

TEST_CASE("recurrent ops accept sequences of different lengths in one batch") {
  const RecurrentWeights w = {array({1, 1}, {.5}), array({1, 1}, {.8}), row({.3}), {}};
  const IndexArray lengths = {3, 1};
  const auto run = [&](double padding) {
    Tape tape;
    const Tensor x = tape.variable(array({2, 3, 1}, {1, 2, 3, 1, padding, padding}));
    const RecurrentSequence s = rnn(x, {}, w, {}, {.lengths = lengths});
    check_near(s.h.value(), array({2, 1}, {0.9881179391, 0.6640367703}), kNumbers);
    CHECK(s.y.value()(1, 1, 0) == 0);
    CHECK(s.y.value()(1, 2, 0) == 0);
    tape.backward(sum(s.h));
    Array dx = tape.grad(x);
    check_near(dx, array({2, 3, 1}, {0.0004124755, 0.0009222603, 0.0118114692, 0.2795275839, 0, 0}), kNumbers);
    CHECK(dx(1, 1, 0) == 0);
    CHECK(dx(1, 2, 0) == 0);
    return dx;
  };
  const Array dx = run(0);
  check_equal(run(1e6), dx);
  check_equal(run(std::numeric_limits<double>::quiet_NaN()), dx);
}

TEST_CASE("both places of the nonlinearity give the same network under g = s(h)") {
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
  // With both initial states zero, sigmoid differs, because sigmoid(0) is not 0.
  const Array inside = rnn(x, {}, layer.weights(), {Nonlinearity::sigmoid}).y.value();
  const Array outside =
      sigmoid(rnn(x, {}, layer.weights(), {Nonlinearity::sigmoid, NonlinearityPlace::outside}).y).value();
  CHECK(std::abs(inside.data()[0] - outside.data()[0]) > 1e-3);
}

TEST_CASE("GRU: z = 1 keeps the state, z = 0 with r = 0 forgets it") {
  const index_t H = 3;
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

TEST_CASE("LSTM: zero input does not keep the state, and the gradient passes a closed forget gate") {
  const index_t H = 3;
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

TEST_CASE("recurrent ops refuse shapes and lengths that do not match") {
  Layer layer(4, 2, 3);
  const RecurrentWeights w = layer.weights();
  const Tensor x = sample({2, 5, 2}, 131), state = sample({2, 3}, 132);
  const auto with_lengths = [&](const IndexArray& lengths) { lstm(x, {}, {}, w, {.lengths = lengths}); };
  check_throws<ShapeError>([&] { with_lengths({1, 2, 3}); }, "[lstm] expected lengths of shape (2), got (3)");
  check_throws<ShapeError>([&] { with_lengths({{1, 2}}); }, "expected lengths of shape (2), got (1,2)");
  check_throws<IndexError>([&] { with_lengths({1, 6}); }, "[lstm] expected lengths in 0..5, got 6");
  check_throws<IndexError>([&] { with_lengths({-1, 5}); }, "[lstm] expected lengths in 0..5, got -1");
  check_throws<ShapeError>([&] { lstm(state, {}, {}, w); }, "[lstm] expected x [B, T, I], got (2,3)");
  check_throws<ShapeError>([&] { lstm_cell(x, {}, {}, w); }, "[lstm_cell] expected x [B, I], got (2,5,2)");
  check_throws<ShapeError>([&] { gru(x, {}, w); }, "[gru] expected weight_hh [3 H, H], got (12,3)");
  check_throws<ShapeError>([&] { rnn(Tensor(sample({2, 5, 3}, 133)), {}, {sample({3, 2}, 1), sample({3, 3}, 2)}); },
                           "[rnn] expected weight_ih of shape (3,3), got (3,2)");
  check_throws<ShapeError>([&] { lstm(x, {}, {}, {w.weight_ih, w.weight_hh, state}); },
                           "[lstm] expected bias_ih of shape (12), got (2,3)");
  check_throws<ShapeError>([&] { lstm(x, {}, {}, {w.weight_ih, w.weight_hh, {}, state}); },
                           "[lstm] expected bias_hh of shape (12), got (2,3)");
  check_throws<ShapeError>([&] { lstm(x, Tensor(sample({3, 3}, 1)), {}, w); },
                           "[lstm] expected a hidden state of shape (2,3), got (3,3)");
  check_throws<ShapeError>([&] { lstm(x, {}, Tensor(sample({2, 4}, 1)), w); },
                           "[lstm] expected a cell state of shape (2,3), got (2,4)");
}
