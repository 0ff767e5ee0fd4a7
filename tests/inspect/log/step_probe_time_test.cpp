// What a step probe measures of recurrent layers by time step, computed anew or by central differences.
#include "step_probe_support.hpp"

#include <map>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("states of fused layers and of loops of cells have the same gradient norms by time step") {
  constexpr index_t B = 3, T = 6;
  const Array x = sample({B, T, 2}, 7);
  ParamStore fused_store(5), loop_store(5);
  const LSTM fused(fused_store.root() / "rnn", 2, 4);
  const LSTMCell cell(loop_store.root() / "rnn", 2, 4);
  Parameter(cell.parameters.weight_ih).set_value(fused.parameters()[0].weight_ih.value());
  Parameter(cell.parameters.weight_hh).set_value(fused.parameters()[0].weight_hh.value());
  Parameter(cell.parameters.bias_ih).set_value(fused.parameters()[0].bias_ih.value());
  Parameter(cell.parameters.bias_hh).set_value(fused.parameters()[0].bias_hh.value());
  const auto weigh = [](const Tensor& y) { return sum(y * Tensor(sample(y.shape(), 8))); };
  TimeStats by_op, by_loop;
  {
    Attached attached;
    Tape tape;
    tape.backward(weigh(fused(Tensor(x)).y));
    by_op = at(attached.record(fused_store).times, "rnn_l0");
  }
  {
    Attached attached;
    Tape tape;
    LstmStep state;
    std::vector<Tensor> outputs;
    for (index_t t = 0; t < static_cast<index_t>(T); ++t) {
      state = cell(reshape(slice(Tensor(x), 1, t, t + 1), {B, 2}), state);
      outputs.push_back(reshape(state.h, {B, 1, 4}));
    }
    tape.backward(weigh(concat(outputs, 1)));
    by_loop = at(attached.record(loop_store).times, "rnn");
  }
  REQUIRE(by_op.by_time[0].norms.size() == T);
  REQUIRE(by_loop.by_time[0].norms.size() == T);
  for (std::size_t t = 0; t < T; ++t) {
    check_near(by_op.by_time[0].norms[t], by_loop.by_time[0].norms[t], kClose);
    check_near(by_op.by_time[1].norms[t], by_loop.by_time[1].norms[t], kClose);
    CHECK(by_op.by_time[0].norms[t] > 0);
  }
}

TEST_CASE("per-step gradients of fused ops equal central differences of the loss by the state") {
  constexpr index_t B = 2, T = 5, H = 3;
  const Array x = sample({B, T, 2}, 17);
  ParamStore store(6);
  const GRU gru(store.root() / "gru", 2, H);
  const RNN rnn(store.root() / "rnn", 2, H);
  const Array weights = sample({B, T, H}, 18);
  const auto check = [&](const auto& layer) {
    std::map<index_t, Array> got;
    std::vector<Array> states;
    {
      Tape tape;
      tape.on_step_grad([&](const StepGrad& step) { got[step.time] = step.grad; });
      const Tensor y = layer(Tensor(x)).y;
      for (index_t t = 0; t < static_cast<index_t>(T); ++t) states.push_back(slice(y.detach(), 1, t, t + 1).value());
      tape.backward(sum(y * Tensor(weights)));
    }
    // The loss from h_t on: its own share, and that of the steps that start from it.
    const auto loss_from = [&](index_t t, const Array& h) {
      double loss = 0;
      for (std::size_t b = 0; b < B; ++b)
        for (std::size_t j = 0; j < H; ++j)
          loss += static_cast<double>(h(b, j)) * static_cast<double>(weights(b, static_cast<std::size_t>(t), j));
      if (t + 1 == static_cast<index_t>(T)) return loss;
      const Tensor y = layer(slice(Tensor(x), 1, t + 1, T), {{Tensor(h)}}).y;
      return loss + static_cast<double>(sum(y * slice(Tensor(weights), 1, t + 1, T)).item());
    };
    const double step = tolerance(1e-5, 1e-2);
    for (index_t t = 0; t < static_cast<index_t>(T); ++t) {
      Array h = states[t];
      h.reshape({B, H});
      for (std::size_t i = 0; i < h.size(); ++i) {
        Array up = h, down = h;
        up.data()[i] += static_cast<real>(step);
        down.data()[i] -= static_cast<real>(step);
        const double wanted = (loss_from(t, up) - loss_from(t, down)) / (2 * step);
        check_near(static_cast<double>(got.at(t).data()[i]), wanted, {tolerance(1e-7, 2e-3), tolerance(1e-8, 2e-3)});
      }
    }
  };
  check(gru);
  check(rnn);
}

TEST_CASE("lags follow the gradient of the last step's loss alone, whatever the lengths and the direction") {
  constexpr index_t B = 3, T = 7;
  const Array x = sample({B, T, 2}, 27), weights = sample({B, T, 8}, 28);
  const IndexArray lengths = indices({3}, {7, 4, 5});
  ParamStore store(7);
  const LSTM layer(store.root() / "rnn", 2, 4, {.bidirectional = true});
  TimeStats forward, reverse;
  {
    Attached attached;
    Tape tape;
    tape.backward(sum(layer(Tensor(x), {}, lengths).y * Tensor(weights)));
    const StepRecord record = attached.record(store);
    forward = at(record.times, "rnn_l0");
    reverse = at(record.times, "rnn_l0_reverse");
  }
  REQUIRE(forward.by_lag[0].norms.size() == T);
  // A loss that only sees the last step of each sequence; its own step gradients, counted back from there.
  const auto check = [&](bool back, const TimeStats& got) {
    Array only = Tensor::zeros({B, T, 8}).value();
    for (std::size_t b = 0; b < B; ++b) {
      const std::size_t t = back ? 0 : static_cast<std::size_t>(lengths(b)) - 1;
      for (std::size_t j = 0; j < 4; ++j) only(b, t, j + 4 * back) = weights(b, t, j + 4 * back);
    }
    std::vector<double> hidden(T), cell(T);
    Tape tape;
    tape.on_step_grad([&](const StepGrad& step) {
      if ((step.layer == "rnn_l0_reverse") != back) return;
      for (std::size_t b = 0; b < B; ++b) {
        const index_t lag = back ? step.time : lengths(b) - 1 - step.time;
        if (lag < 0 || step.time >= lengths(b)) continue;
        double squares = 0;
        for (std::size_t j = 0; j < 4; ++j) squares += std::pow(static_cast<double>(step.grad(b, j)), 2);
        (step.stream == "cell" ? cell : hidden)[lag] += squares;
      }
    });
    tape.backward(sum(layer(Tensor(x), {}, lengths).y * Tensor(only)));
    for (std::size_t lag = 0; lag < T; ++lag) {
      check_near(got.by_lag[0].norms[lag], std::sqrt(hidden[lag]), kClose);
      check_near(got.by_lag[1].norms[lag], std::sqrt(cell[lag]), kClose);
    }
  };
  check(false, forward);
  check(true, reverse);
}

TEST_CASE("of a large batch the eight longest sequences are followed back") {
  constexpr index_t B = 12, T = 6;
  const Array x = sample({B, T, 2}, 61), weights = sample({B, T, 3}, 62);
  const IndexArray lengths = indices({12}, {2, 6, 6, 1, 6, 6, 6, 3, 6, 6, 6, 2});
  ParamStore store(13);
  const GRU layer(store.root() / "rnn", 2, 3);
  std::vector<double> got;
  {
    Attached attached;
    Tape tape;
    tape.backward(sum(layer(Tensor(x), {}, lengths).y * Tensor(weights)));
    got = at(attached.record(store).times, "rnn_l0").by_lag[0].norms;
  }
  Array only = Tensor::zeros({B, T, 3}).value();
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t j = 0; lengths(b) == 6 && j < 3; ++j) only(b, T - 1, j) = weights(b, T - 1, j);
  Tape tape;
  tape.on_step_grad([&](const StepGrad& step) {
    double squares = 0;
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t j = 0; lengths(b) == 6 && j < 3; ++j)
        squares += std::pow(static_cast<double>(step.grad(b, j)), 2);
    check_near(got.at(T - 1 - static_cast<std::size_t>(step.time)), std::sqrt(squares), kClose);
  });
  tape.backward(sum(layer(Tensor(x), {}, lengths).y * Tensor(only)));
  CHECK(got.size() == T);
}
