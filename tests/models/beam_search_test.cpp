#include <xtape/models/beam_search.hpp>
#include <xtape/models/seq2seq_rnn.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

constexpr index_t kBeamStart = 0, kBeamEnd = 1;

/// A Markov chain of tokens: P(next | token) from a table, the same for every row.
BeamStep chain(std::vector<std::vector<double>> table) {
  return [table = std::move(table)](const IndexArray& tokens) {
    Array logits(Shape{tokens.shape()[0], 1, table.size()});
    for (std::size_t row = 0; row < tokens.size(); ++row)
      for (std::size_t next = 0; next < table.size(); ++next)
        logits(row, 0, next) = static_cast<real>(std::log(table[static_cast<std::size_t>(tokens.data()[row])][next]));
    return Tensor(std::move(logits));
  };
}

const BeamSelect kNoState = [](const IndexArray&) {};

}  // namespace

TEST_CASE("beam search finds what greedy search misses") {
  // Greedy search takes 2 (0.6), then at best the end (0.4). Taking 3 (0.4), then the end with certainty, is better.
  const BeamStep step = chain({{0, 0, 0.6, 0.4}, {0.25, 0.25, 0.25, 0.25}, {0.3, 0.4, 0.3, 0}, {0, 1, 0, 0}});
  const auto greedy = beam_search(1, step, kNoState,
                                  {.beams = 1, .start = kBeamStart, .end = kBeamEnd, .longest = 5, .length_power = 0});
  const auto beam = beam_search(1, step, kNoState,
                                {.beams = 3, .start = kBeamStart, .end = kBeamEnd, .longest = 5, .length_power = 0});
  CHECK(greedy[0][0].tokens == std::vector<index_t>{2});
  CHECK(beam[0][0].tokens == std::vector<index_t>{3});
  CHECK(beam[0][0].ended);
  check_near(beam[0][0].log_probability, std::log(0.4), {0, 1e-5});
  CHECK(beam[0][1].tokens == std::vector<index_t>{2});
  check_near(beam[0][1].log_probability, std::log(0.24), {0, 1e-5});
}

TEST_CASE("beam search: the length power prefers longer sequences, and `longest` cuts sequences") {
  const BeamStep step = chain({{0, 0, 1, 0}, {0.25, 0.25, 0.25, 0.25}, {0, 0.5, 0, 0.5}, {0, 0.9, 0, 0.1}});
  const auto best = [&](double power) {
    return beam_search(1, step, kNoState,
                       {.beams = 4, .start = kBeamStart, .end = kBeamEnd, .longest = 6, .length_power = power})[0][0]
        .tokens;
  };
  CHECK(best(0) == std::vector<index_t>{2});
  CHECK(best(1) == std::vector<index_t>{2, 3});
  const BeamStep endless = chain({{0, 0, 1, 0}, {0.25, 0.25, 0.25, 0.25}, {0, 0, 1, 0}, {0, 0, 1, 0}});
  const auto cut = beam_search(1, endless, kNoState, {.beams = 2, .start = kBeamStart, .end = kBeamEnd, .longest = 3});
  CHECK(cut[0][0].tokens == std::vector<index_t>{2, 2, 2});
  CHECK_FALSE(cut[0][0].ended);
}

TEST_CASE("beam search: sources are independent, and rows are selected so that states follow their beams") {
  // The state of a row is the number of 2s so far. Source s ends after s + 1 of them; before, it emits 2 or 3.
  std::vector<double> twos(6, 0);
  const BeamStep step = [&](const IndexArray& tokens) {
    Array logits(Shape{6, 1, 4}, real(-20));
    for (std::size_t row = 0; row < 6; ++row) {
      twos[row] += tokens.data()[row] == 2;
      const bool ends = twos[row] > static_cast<double>(row / 3);
      logits(row, 0, 1) = ends ? 5 : -20;
      logits(row, 0, 2) = real(0.5);
      logits(row, 0, 3) = real(0.4);
    }
    return Tensor(std::move(logits));
  };
  const BeamSelect select = [&](const IndexArray& rows) {
    const std::vector<double> old = twos;
    for (std::size_t row = 0; row < 6; ++row) twos[row] = old[static_cast<std::size_t>(rows.data()[row])];
  };
  const auto found =
      beam_search(2, step, select, {.beams = 3, .start = kBeamStart, .end = kBeamEnd, .longest = 8, .length_power = 0});
  CHECK(found[0][0].tokens == std::vector<index_t>{2});
  CHECK(found[1][0].tokens == std::vector<index_t>{2, 2});
  for (const auto& hypothesis : found[1]) CHECK(std::count(hypothesis.tokens.begin(), hypothesis.tokens.end(), 2) == 2);
}

TEST_CASE("beam search refuses invalid options and logits") {
  const BeamStep step = chain({{0.5, 0.5}, {0.5, 0.5}});
  check_throws<ValueError>([&] { beam_search(0, step, kNoState, {.start = 0, .end = 1}); }, "[beam_search] sources");
  check_throws<ValueError>([&] { beam_search(1, step, kNoState, {.beams = 0, .start = 0, .end = 1}); }, "at least 1");
  const BeamStep wrong = [](const IndexArray&) { return Tensor::ones({1, 2}); };
  check_throws<ShapeError>([&] { beam_search(1, wrong, kNoState, {.start = 0, .end = 1}); },
                           "logits must be [B beams, 1, V]");
}

TEST_CASE("best sequences: each source as by itself, a batch at a time") {
  ParamStore store(3);
  const Seq2SeqRNN model(store.root(), {.source_vocab = 6, .target_vocab = 5, .embedding = 4, .hidden = 8});
  const std::vector<std::vector<index_t>> sources = {{3, 4, 5}, {5}, {4, 4}, {3, 5, 4, 3}, {1, 2}};
  const BeamSearchOptions options = {.beams = 3, .start = kBeamStart, .end = kBeamEnd, .longest = 6};
  std::vector<std::vector<index_t>> alone;
  for (const std::vector<index_t>& source : sources) {
    auto decoding = model.start(padded({source}, 0).ids, {}, options.beams);
    const auto found = beam_search(
        1, [&](const IndexArray& tokens) { return model.step(tokens, decoding); },
        [&](const IndexArray& rows) { decoding.select(rows); }, options);
    alone.push_back(found[0][0].tokens);
  }
  for (index_t batch : {1, 2, 5, 100}) CHECK(best_sequences(model, sources, 0, options, batch) == alone);
  CHECK(best_sequences(model, {}, 0, options).empty());
  check_throws<ValueError>([&] { best_sequences(model, sources, 0, options, 0); }, "at least 1 item, got 0");
}
