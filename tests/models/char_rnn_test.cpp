// The recurrent language model.
#include <xtape/models/char_rnn.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

/// `batch` sequences of one character, id 0.
IndexArray first_ids(index_t batch) {
  IndexArray ids = empty_array<IndexArray>({batch, 1});
  std::fill(ids.begin(), ids.end(), 0);
  return ids;
}

constexpr CellKind kKinds[] = {CellKind::rnn, CellKind::gru, CellKind::lstm};

CharRNNConfig small(CellKind cell) { return {.vocab = 5, .cell = cell, .embedding = 3, .hidden = 8, .layers = 2}; }

const Limits kRounding = {tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-6)};

}  // namespace

TEST_CASE("CharRNN: a carried state replaces the preceding characters") {
  const IndexArray ids = {{0, 1, 2, 3, 4, 0}, {4, 4, 1, 0, 2, 3}};
  for (const CellKind kind : kKinds) {
    ParamStore store(1);
    const CharRNN model(store.root(), small(kind));
    const CharRNNOutput whole = model(ids);
    CHECK(whole.logits.shape() == Shape{2, 6, 5});
    CHECK(whole.state.h.size() == 2);
    CHECK(whole.state.c.size() == (kind == CellKind::lstm ? 2 : 0));
    const IndexArray front = {{0, 1, 2}, {4, 4, 1}}, back = {{3, 4, 0}, {0, 2, 3}};
    const CharRNNOutput first = model(front);
    const CharRNNOutput second = model(back, first.state);
    check_near(concat({first.logits, second.logits}, 1).value(), whole.logits.value(), kRounding);
    check_near(second.state.h[1].value(), whole.state.h[1].value(), kRounding);
  }
}

TEST_CASE("CharRNN: each cell learns a cycle with the state carried and gradients cut") {
  // The sequence is 0 1 2 1 0 1 2 1 ... The character after a 1 depends on the one before it, often in the previous
  // batch.
  for (const CellKind kind : kKinds) {
    ParamStore store(2);
    const CharRNN model(store.root(), {.vocab = 3, .cell = kind, .embedding = 4, .hidden = 8});
    AdamW opt(all_parameters(store));
    RecurrentState state;
    double loss = 0;
    index_t position = 0;
    const auto symbol = [](index_t i) { return i % 2 ? 1 : i % 4; };
    for (int step = 0; step < 300; ++step) {
      IndexArray inputs = empty_array<IndexArray>({1, 3}), targets = empty_array<IndexArray>({1, 3});
      for (std::size_t t = 0; t < 3; ++t, ++position) {
        inputs(0, t) = symbol(position);
        targets(0, t) = symbol(position + 1);
      }
      Tape tape;
      const CharRNNOutput out = model(inputs, state);
      const Tensor value = cross_entropy(out.logits, targets);
      state = out.state.detach();
      tape.backward(value);
      opt.step(0.02);
      store.zero_grad();
      loss = static_cast<double>(value.item());
    }
    CHECK(loss < 0.05);
  }
}

TEST_CASE("CharRNN: parameters have PyTorch's names and shapes") {
  ParamStore store;
  const CharRNN model(store.root(), {.vocab = 5, .cell = CellKind::gru, .embedding = 3, .hidden = 4});
  std::vector<std::string> names;
  for (const Parameter& p : store.parameters()) names.push_back(p.name());
  CHECK(names == std::vector<std::string>{"embedding.weight", "rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0",
                                          "rnn.bias_hh_l0", "head.weight", "head.bias"});
}

TEST_CASE("CharRNN refuses invalid ids, states and configurations") {
  ParamStore store;
  const CharRNN model(store.root(), small(CellKind::gru));
  check_throws<ShapeError>([&] { model(IndexArray{0, 1}); }, "[char_rnn] expected ids [B, T], got (2)");
  check_throws<IndexError>([&] { model(IndexArray{{0, 5}}); }, "expected ids in 0..4, got 5");
  check_throws<ShapeError>([&] { model(first_ids(2), model(first_ids(1)).state); },
                           "[gru] expected a hidden state of shape (2,8), got (1,8)");
  check_throws<ValueError>([] { parse_cell_kind("elman"); },
                           "[char_rnn] expected a cell rnn, gru or lstm, got 'elman'");
  CHECK(parse_cell_kind("rnn") == CellKind::rnn);
  CHECK(parse_cell_kind("gru") == CellKind::gru);
  CHECK(parse_cell_kind("lstm") == CellKind::lstm);
  CharRNNConfig config = small(CellKind::gru);
  config.forget_bias = 1;
  check_throws<ValueError>([&] { CharRNN(store.root() / "other", config); },
                           "expected lstm cells for a forget bias, got others");
  check_throws<ShapeError>([&] { model(first_ids(1), {.h = {}, .c = {Tensor::zeros({1, 8})}}); },
                           "[gru] expected a state without c, which only lstm cells have, got");
}
