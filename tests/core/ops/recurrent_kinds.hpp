// Helpers of the tests of recurrent ops: random parameters, and one interface for all kinds.
#pragma once

#include <xtape/inspect/measure/gradcheck.hpp>

#include "support.hpp"

#include <functional>
#include <vector>

namespace xtape::test {

constexpr double kFused = tolerance(1e-12, 2e-5);
inline const Limits kNumbers = {tolerance(1e-9, 1e-6), tolerance(1e-9, 1e-6)};

/// Random parameters of one layer with `gates` blocks.
struct Layer {
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;

  Layer(index_t gates, index_t inputs, index_t hidden)
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

/// One interface for every kind of recurrent op.
struct Kind {
  const char* name;
  index_t gates;
  bool cells;
  std::function<RecurrentSequence(const Tensor& x, const Tensor& h, const Tensor& c, const RecurrentWeights&,
                                  const SequenceOptions&)>
      sequence;
  std::function<RecurrentSequence(const Tensor& x, const Tensor& h, const Tensor& c, const RecurrentWeights&)> cell;
};

inline Kind rnn_kind(const char* name, const RnnForm& form) {
  return {name, 1, false,
          [form](const Tensor& x, const Tensor& h, const Tensor&, const RecurrentWeights& w, const SequenceOptions& o) {
            return rnn(x, h, w, form, o);
          },
          [form](const Tensor& x, const Tensor& h, const Tensor&, const RecurrentWeights& w) {
            const Tensor next = rnn_cell(x, h, w, form);
            return RecurrentSequence{next, next, {}};
          }};
}

inline Kind gru_kind(const char* name, GruReset reset) {
  return {name, 3, false,
          [reset](const Tensor& x, const Tensor& h, const Tensor&, const RecurrentWeights& w,
                  const SequenceOptions& o) { return gru(x, h, w, reset, o); },
          [reset](const Tensor& x, const Tensor& h, const Tensor&, const RecurrentWeights& w) {
            const Tensor next = gru_cell(x, h, w, reset);
            return RecurrentSequence{next, next, {}};
          }};
}

inline Kind lstm_kind() {
  return {"lstm", 4, true, lstm, [](const Tensor& x, const Tensor& h, const Tensor& c, const RecurrentWeights& w) {
            const LstmStep s = lstm_cell(x, h, c, w);
            return RecurrentSequence{s.h, s.h, s.c};
          }};
}

inline std::vector<Kind> kinds() {
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
inline Tensor step_of(const Tensor& x, index_t t) { return reshape(slice(x, 1, t, t + 1), {x.size(0), x.size(2)}); }

/// sum(weights * x) with fixed random weights.
inline Tensor weighted(const Tensor& x, std::uint64_t seed) { return sum(x * Tensor(sample(x.shape(), seed))); }

inline Array filled(const Shape& shape, double value) {
  Array out = empty_array(shape);
  std::fill(out.begin(), out.end(), static_cast<real>(value));
  return out;
}

}  // namespace xtape::test
