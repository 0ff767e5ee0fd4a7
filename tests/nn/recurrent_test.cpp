// Recurrent layers: parameters, stacking, directions, dropout, carried and detached states.
#include <xtape/inspect/measure/gradcheck.hpp>
#include <xtape/nn/gru.hpp>
#include <xtape/nn/lstm.hpp>
#include <xtape/nn/rnn.hpp>

#include "support.hpp"

#include <algorithm>

using namespace xtape;
using namespace xtape::test;

namespace {

const Limits kClose = {tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-6)};

std::vector<std::string> names(const ParamStore& store) {
  std::vector<std::string> out;
  for (const Parameter& p : store.parameters()) out.push_back(p.name() + shape_text(p.shape()));
  return out;
}

Array block(const Array& value, index_t gate, index_t gates) {
  const index_t rows = value.shape()[0] / gates;
  return slice(value, 0, gate * rows, (gate + 1) * rows).value();
}

bool all_within(const Array& x, double low, double high) {
  return std::all_of(x.begin(), x.end(), [=](real v) { return v >= low && v <= high; });
}

}  // namespace

TEST_CASE("recurrent parameters have PyTorch's names, order and shapes") {
  ParamStore store;
  const LSTM lstm(store.root() / "rnn", 3, 4, {.layers = 2, .bidirectional = true});
  CHECK(names(store) == std::vector<std::string>{
                            "rnn.weight_ih_l0(16,3)", "rnn.weight_hh_l0(16,4)", "rnn.bias_ih_l0(16)",
                            "rnn.bias_hh_l0(16)", "rnn.weight_ih_l0_reverse(16,3)", "rnn.weight_hh_l0_reverse(16,4)",
                            "rnn.bias_ih_l0_reverse(16)", "rnn.bias_hh_l0_reverse(16)", "rnn.weight_ih_l1(16,8)",
                            "rnn.weight_hh_l1(16,4)", "rnn.bias_ih_l1(16)", "rnn.bias_hh_l1(16)",
                            "rnn.weight_ih_l1_reverse(16,8)", "rnn.weight_hh_l1_reverse(16,4)",
                            "rnn.bias_ih_l1_reverse(16)", "rnn.bias_hh_l1_reverse(16)"});
  ParamStore cells;
  const GRUCell gru(cells.root() / "cell", 3, 4, {.bias = false});
  CHECK(names(cells) == std::vector<std::string>{"cell.weight_ih(12,3)", "cell.weight_hh(12,4)"});
}

TEST_CASE("recurrent parameters start uniform in [-1/sqrt(H), 1/sqrt(H))") {
  ParamStore store(5);
  const GRU gru(store.root(), 50, 64);
  for (const Parameter& p : store.parameters()) {
    INFO(p.name());
    CHECK(all_within(p.value(), -0.125, 0.125));
    CHECK(*std::max_element(p.value().begin(), p.value().end()) > 0.12);
    CHECK(*std::min_element(p.value().begin(), p.value().end()) < -0.12);
  }
}

TEST_CASE("the forget bias sets both biases of the forget gate") {
  ParamStore store;
  const LSTM lstm(store.root(), 2, 3, {.forget_bias = 1.5});
  const Array ih = store.parameter("bias_ih_l0").value(), hh = store.parameter("bias_hh_l0").value();
  check_equal(block(ih, 1, 4), row({1.5, 1.5, 1.5}));
  check_equal(block(hh, 1, 4), row({0, 0, 0}));
  for (index_t gate : {0, 2, 3}) CHECK_FALSE(all_within(block(ih, gate, 4), 0, 0));
  ParamStore usual;
  const LSTM plain(usual.root(), 2, 3);
  check_equal(block(usual.parameter("bias_ih_l0").value(), 0, 4), block(ih, 0, 4));
}

TEST_CASE("recurrent initializers apply to each gate's block") {
  ParamStore store;
  const GRU gru(store.root(), 4, 4,
                {.init = {.input = init::identity(2), .recurrent = init::orthogonal(), .bias = init::zeros()}});
  const Array ih = store.parameter("weight_ih_l0").value(), hh = store.parameter("weight_hh_l0").value();
  Array two = Tensor::zeros({4, 4}).value(), one = two;
  for (std::size_t i = 0; i < 4; ++i) two(i, i) = 2, one(i, i) = 1;
  for (index_t gate : {0, 1, 2}) {
    check_equal(block(ih, gate, 3), two);
    const Array w = block(hh, gate, 3);
    check_near(matmul(w, w, {.transpose_b = true}).value(), one, {0, tolerance(1e-14, 1e-6)});
  }
  CHECK(difference(block(hh, 0, 3), block(hh, 1, 3), {}) != "");
  CHECK(all_within(store.parameter("bias_hh_l0").value(), 0, 0));
}

TEST_CASE("a stack equals its layers one after the other, with both directions concatenated") {
  ParamStore store(2);
  const LSTM layer(store.root() / "rnn", 2, 3, {.layers = 2, .bidirectional = true});
  const Tensor x = sample({3, 4, 2}, 1);
  const IndexArray lengths = {4, 0, 2};
  RecurrentState start;
  for (std::uint64_t i = 0; i < 4; ++i) {
    start.h.push_back(sample({3, 3}, 10 + i));
    start.c.push_back(sample({3, 3}, 20 + i));
  }
  const auto [y, last] = layer(x, start, lengths);
  REQUIRE(last.h.size() == 4);
  Tensor in = x;
  for (std::size_t l = 0; l < 2; ++l) {
    std::vector<Tensor> outputs;
    for (std::size_t d = 0; d < 2; ++d) {
      const std::size_t i = 2 * l + d;
      const RecurrentSequence s =
          lstm(in, start.h[i], start.c[i], layer.parameters()[i].weights(), {.lengths = lengths, .reverse = d == 1});
      outputs.push_back(s.y);
      check_equal(last.h[i].value(), s.h.value());
      check_equal(last.c[i].value(), s.c.value());
    }
    in = concat(outputs, 2);
  }
  check_equal(y.value(), in.value());
  CHECK(y.shape() == Shape{3, 4, 6});
}

TEST_CASE("cells and layers with the same weights agree") {
  const Tensor x = sample({2, 3, 2}, 1);
  const auto step = [&](index_t t) { return reshape(slice(x, 1, t, t + 1), {2, 2}); };
  const auto copy_weights = [](const RecurrentParameters& from, RecurrentParameters& to) {
    to.weight_ih.set_value(from.weight_ih.value());
    to.weight_hh.set_value(from.weight_hh.value());
    to.bias_ih.set_value(from.bias_ih.value());
    to.bias_hh.set_value(from.bias_hh.value());
  };
  ParamStore store(3);
  const auto last_of = [](const Tensor& y) { return reshape(slice(y, 1, 2, 3), {2, 4}).value(); };
  {
    const RNNOptions options = {.nonlinearity = Nonlinearity::sigmoid, .place = NonlinearityPlace::outside};
    const RNN layer(store.root() / "rnn", 2, 4, options);
    RNNCell cell(store.root() / "rnn_cell", 2, 4, {.nonlinearity = options.nonlinearity, .place = options.place});
    copy_weights(layer.parameters()[0], cell.parameters);
    check_near(cell(step(2), cell(step(1), cell(step(0)))).value(), last_of(layer(x).y), kClose);
  }
  {
    const GRU layer(store.root() / "gru", 2, 4, {.reset = GruReset::before});
    GRUCell cell(store.root() / "gru_cell", 2, 4, {.reset = GruReset::before});
    copy_weights(layer.parameters()[0], cell.parameters);
    check_near(cell(step(2), cell(step(1), cell(step(0)))).value(), last_of(layer(x).y), kClose);
  }
  {
    const LSTM layer(store.root() / "lstm", 2, 4);
    LSTMCell cell(store.root() / "lstm_cell", 2, 4);
    copy_weights(layer.parameters()[0], cell.parameters);
    const LstmStep last = cell(step(2), cell(step(1), cell(step(0))));
    const auto [y, state] = layer(x);
    check_near(last.h.value(), last_of(y), kClose);
    check_near(last.c.value(), state.c[0].value(), kClose);
  }
}

TEST_CASE("a sequence in two pieces with the state carried equals the whole sequence") {
  ParamStore store(4);
  const GRU layer(store.root(), 2, 3, {.layers = 2});
  const Tensor x = sample({2, 6, 2}, 1);
  const auto grads = [&](bool whole, bool cut) {
    store.zero_grad();
    Tape tape;
    RecurrentOutput out;
    if (whole) {
      out = layer(x);
    } else {
      RecurrentState state = layer(slice(x, 1, 0, 4)).state;
      if (cut) state = state.detach();
      out = layer(slice(x, 1, 4, 6), state);
    }
    tape.backward(sum(out.state.h[1] * out.state.h[1]));
    std::vector<Array> result = {out.state.h[0].value(), out.state.h[1].value()};
    for (const Parameter& p : store.parameters()) result.push_back(p.grad());
    return result;
  };
  const auto whole = grads(true, false), pieces = grads(false, false), truncated = grads(false, true);
  for (std::size_t i = 0; i < whole.size(); ++i) check_near(pieces[i], whole[i], kClose);
  for (std::size_t i = 0; i < 2; ++i) check_near(truncated[i], whole[i], kClose);
  for (std::size_t i = 2; i < whole.size(); ++i) CHECK(difference(truncated[i], whole[i], {0, 1e-4}) != "");
}

TEST_CASE("recurrent dropout acts between layers, in training only, with a new mask at each call") {
  ParamStore store(6);
  const RNN dropped(store.root() / "a", 2, 8, {.layers = 2, .dropout = 0.5});
  const RNN single(store.root() / "b", 2, 8, {.dropout = 0.5});
  const Tensor x = sample({2, 5, 2}, 1);
  const Array first = dropped(x).y.value(), second = dropped(x).y.value();
  CHECK(difference(first, second, {}) != "");
  check_equal(single(x).y.value(), single(x).y.value());
  // the first layer comes before the dropout
  check_equal(dropped(x).state.h[0].value(), dropped(x).state.h[0].value());
  store.eval();
  check_equal(dropped(x).y.value(), dropped(x).y.value());
}

TEST_CASE("observers get the layer and direction of each step") {
  ParamStore store;
  const GRU layer(store.root() / "decoder", 2, 3, {.layers = 2, .bidirectional = true});
  Tape tape({.record_step_norms = true});
  tape.backward(sum(layer(Tensor(sample({2, 2, 2}, 1))).y));
  std::vector<std::string> seen;
  for (const GradNorm& w : tape.grad_norms()) seen.push_back(w.name + "/" + std::to_string(w.time));
  CHECK(seen == std::vector<std::string>{"decoder_l1_reverse/0", "decoder_l1_reverse/1", "decoder_l1/1", "decoder_l1/0",
                                         "decoder_l0_reverse/0", "decoder_l0_reverse/1", "decoder_l0/1",
                                         "decoder_l0/0"});
}

TEST_CASE("recurrent layers refuse invalid options and states") {
  ParamStore store;
  const Scope root = store.root();
  check_throws<ValueError>([&] { RNN(root / "a", 0, 3); }, "[recurrent a] expected sizes of at least 1, got 0 and 3");
  check_throws<ValueError>([&] { GRUCell(root / "b", 3, 0); }, "expected sizes of at least 1, got 3 and 0");
  check_throws<ValueError>([&] { GRU(root / "c", 3, 3, {.layers = 0}); }, "[gru c] expected at least 1 layer, got");
  check_throws<ValueError>([&] { LSTM(root / "d", 3, 3, {.dropout = 1.5}); }, "[lstm] expected a dropout probability");
  check_throws<ValueError>([&] { LSTM(root / "e", 3, 3, {.bias = false, .forget_bias = 1}); },
                           "[recurrent e] expected a finite forget bias and bias = true, got");
  check_throws<ValueError>([&] { LSTMCell(root / "f", 3, 3, {.forget_bias = 1.0 / 0.0}); },
                           "expected a finite forget bias and bias = true, got Inf and true");
  const LSTM layer(root / "g", 2, 3, {.layers = 2});
  const Tensor x = sample({2, 4, 2}, 1), state = sample({2, 3}, 2);
  check_throws<ShapeError>([&] { layer(x, {.h = {state}, .c = {}}); },
                           "[lstm] expected a state of a tensor for each layer and direction, 2, got 1");
  check_throws<ShapeError>([&] { layer(x, {.h = {}, .c = {state, state, state}}); },
                           "for each layer and direction, 2, got ");
  check_throws<ShapeError>([&] { layer(Tensor(sample({2, 4, 3}, 1))); },
                           "[lstm] expected weight_ih of shape (12,3), got");
}
