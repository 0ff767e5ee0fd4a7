// Gradients of states that are watched, of cells and of whole sequences.
#include "core/evaluate.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

constexpr index_t kSequences = 2, kStates = 3;
const Limits kWatchClose = {tolerance(1e-12, 2e-5), tolerance(1e-14, 1e-6)};

struct LstmWeights {
  Tensor ih{sample({4 * kStates, 2}, 1)}, hh{sample({4 * kStates, kStates}, 2)};
};

/// One step of an LSTM from small ops, whose c is on the tape.
LstmStep composed_step(const LstmWeights& w, const Tensor& x, const LstmStep& s) {
  const Tensor gates = matmul(x, w.ih, {.transpose_b = true}) + matmul(s.h, w.hh, {.transpose_b = true});
  const auto gate = [&](index_t i) { return slice(gates, 1, i * kStates, (i + 1) * kStates); };
  const Tensor c = sigmoid(gate(1)) * s.c + sigmoid(gate(0)) * tanh(gate(2));
  return {sigmoid(gate(3)) * tanh(c), c};
}

/// The gradients of c_1 and c_2 in a loop over two steps.
template <class Step>
std::vector<Array> cell_gradients(const Step& step, bool of_h, bool of_c) {
  Tape tape;
  const Tensor x = tape.variable(sample({kSequences, 2}, 3));
  std::vector<Array> grads(2);
  LstmStep s = {tape.variable(sample({kSequences, kStates}, 4)), tape.variable(sample({kSequences, kStates}, 5))};
  for (std::size_t t = 0; t < 2; ++t) {
    s = step(x, s);
    tape.on_grad(s.c, [&grads, t](const Array& grad) { grads[t] = grad; });
    tape.watch(s.c, "c", static_cast<index_t>(t));
  }
  Tensor loss = Tensor::scalar(0);
  if (of_h) loss = loss + sum(s.h * Tensor(sample({kSequences, kStates}, 6)));
  if (of_c) loss = loss + sum(s.c * Tensor(sample({kSequences, kStates}, 7)));
  tape.backward(loss);
  REQUIRE(tape.grad_norms().size() == 2);
  for (std::size_t i = 0; i < 2; ++i) check_near(tape.grad_norms()[i].norm, norm_of(grads[1 - i]), kWatchClose);
  return grads;
}

}  // namespace

TEST_CASE("the gradient of an LSTM cell's c includes what reaches it through h") {
  const LstmWeights w;
  for (const auto& [of_h, of_c] : {std::pair(true, false), {false, true}, {true, true}}) {
    const auto by_op = cell_gradients(
        [&](const Tensor& x, const LstmStep& s) { return lstm_cell(x, s.h, s.c, {w.ih, w.hh}); }, of_h, of_c);
    const auto by_ops =
        cell_gradients([&](const Tensor& x, const LstmStep& s) { return composed_step(w, x, s); }, of_h, of_c);
    for (std::size_t t = 0; t < 2; ++t) check_near(by_op[t], by_ops[t], kWatchClose);
  }
}

TEST_CASE("the gradient of an LSTM's last c includes what reaches it through y and h") {
  const LstmWeights w;
  const Array x = sample({kSequences, 3, 2}, 8), dy = sample({kSequences, 3, kStates}, 9);
  for (const IndexArray& lengths : {IndexArray({3, 3}), IndexArray({1, 3}), IndexArray({2, 0})}) {
    Array got;
    {
      Tape tape;
      const RecurrentSequence s = lstm(tape.variable(x), {}, {}, {w.ih, w.hh}, {.lengths = lengths});
      tape.on_grad(s.c, [&](const Array& grad) { got = grad; });
      tape.backward(sum(s.y * Tensor(dy)) + sum(s.h) + sum(s.c) * real(0.5));
    }
    for (index_t b = 0; b < kSequences; ++b) {
      Tape tape;
      LstmStep s = {tape.variable(Tensor::zeros({1, kStates}).value()),
                    tape.variable(Tensor::zeros({1, kStates}).value())};
      Tensor loss = Tensor::scalar(0);
      for (index_t t = 0; t < lengths.data()[b]; ++t) {
        const auto at = [&](const Array& a) { return squeeze(slice(slice(Tensor(a), 0, b, b + 1), 1, t, t + 1), {1}); };
        s = composed_step(w, at(x), s);
        loss = loss + sum(s.h * at(dy));
      }
      Array want;
      tape.on_grad(s.c, [&](const Array& grad) { want = grad; });
      tape.backward(loss + sum(s.h) + sum(s.c) * real(0.5));
      check_near(slice(Tensor(got), 0, b, b + 1).value(), want, kWatchClose);
    }
  }
}

TEST_CASE("on_step_grad is called for cells, without a probe, with the steps of the sequence op") {
  const LstmWeights w;
  const Array x = sample({kSequences, 4, 2}, 8), dy = sample({kSequences, 4, kStates}, 9);
  std::map<std::pair<std::string, index_t>, Array> by_op, by_cells;
  std::vector<index_t> order;
  {
    Tape tape;
    tape.on_step_grad([&](const StepGrad& s) { by_op[{std::string(s.stream), s.time}] = s.grad; });
    tape.backward(lstm(tape.variable(x), {}, {}, {w.ih, w.hh}).y, dy);
  }
  Tape tape({.record_step_norms = true});
  const LayerScope here("cells");
  const Tensor in = tape.variable(x);
  LstmStep s = {Tensor::zeros({kSequences, kStates}), Tensor::zeros({kSequences, kStates})};
  Tensor loss = Tensor::scalar(0);
  for (index_t t = 0; t < 4; ++t) {
    s = lstm_cell(squeeze(slice(in, 1, t, t + 1), {1}), s.h, s.c, {w.ih, w.hh});
    loss = loss + sum(s.h * squeeze(slice(Tensor(dy), 1, t, t + 1), {1}));
  }
  tape.on_step_grad([&](const StepGrad& step) {
    by_cells[{std::string(step.stream), step.time}] = step.grad;
    CHECK(step.layer == "cells");
    if (step.stream == "hidden") order.push_back(step.time);
  });
  tape.backward(loss);
  CHECK(order == std::vector<index_t>{3, 2, 1, 0});
  CHECK(tape.step_grads() == 8);
  CHECK(tape.grad_norms().size() == 8);
  REQUIRE(by_cells.size() == by_op.size());
  for (const auto& [key, grad] : by_op) check_near(by_cells.at(key), grad, kWatchClose);
}

TEST_CASE("cells of two layers have steps of their own, and rnn and gru cells report theirs") {
  const Tensor ih(sample({3 * kStates, kStates}, 1)), hh(sample({3 * kStates, kStates}, 2));
  Tape tape;
  std::map<std::string, std::vector<index_t>> times;
  tape.on_step_grad([&](const StepGrad& s) { times[std::string(s.layer)].push_back(s.time); });
  Tensor h = tape.variable(sample({kSequences, kStates}, 3)), g = Tensor::zeros({kSequences, kStates});
  for (index_t t = 0; t < 3; ++t) {
    const LayerScope here("gru");
    h = gru_cell(h, g, {ih, hh});
    g = rnn_cell(h, g, {slice(ih, 0, 0, kStates), slice(hh, 0, 0, kStates)});
    {
      const LayerScope top("top");
      g = rnn_cell(g, h, {slice(ih, 0, 0, kStates), slice(hh, 0, 0, kStates)});
    }
  }
  tape.backward(sum(g));
  CHECK(times["top"] == std::vector<index_t>{2, 1, 0});
  CHECK(times["gru"] == std::vector<index_t>{5, 4, 3, 2, 1, 0});
}
