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
    Array logits = empty_array({shape_of(tokens)[0], 1, std::ssize(table)});
    for (std::size_t row = 0; row < tokens.size(); ++row)
      for (std::size_t next = 0; next < table.size(); ++next)
        logits(row, 0, next) = static_cast<real>(std::log(table[tokens.data()[row]][next]));
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
    Array logits = full_array({6, 1, 4}, real(-20));
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
    for (std::size_t row = 0; row < 6; ++row) twos[row] = old[rows.data()[row]];
  };
  const auto found =
      beam_search(2, step, select, {.beams = 3, .start = kBeamStart, .end = kBeamEnd, .longest = 8, .length_power = 0});
  CHECK(found[0][0].tokens == std::vector<index_t>{2});
  CHECK(found[1][0].tokens == std::vector<index_t>{2, 2});
  for (const auto& hypothesis : found[1]) CHECK(std::count(hypothesis.tokens.begin(), hypothesis.tokens.end(), 2) == 2);
}

TEST_CASE("beam search refuses invalid options and logits") {
  const BeamStep step = chain({{0.5, 0.5}, {0.5, 0.5}});
  check_throws<ValueError>([&] { beam_search(0, step, kNoState, {.start = 0, .end = 1}); },
                           "[beam_search] expected sources, beams and longest of at least 1, got ");
  check_throws<ValueError>([&] { beam_search(1, step, kNoState, {.beams = 0, .start = 0, .end = 1}); }, "at least 1");
  const BeamStep wrong = [](const IndexArray&) { return Tensor::ones({1, 2}); };
  check_throws<ShapeError>([&] { beam_search(1, wrong, kNoState, {.start = 0, .end = 1}); }, ", 1, V], got ");
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
  const auto empty = best_sequences(model, {{}, {5}}, 0, options);  // an empty source is all padding, or has no step
  CHECK(empty[1] == alone[1]);
  CHECK(empty[0] == best_sequences(model, {{}}, 0, options)[0]);
  check_throws<ValueError>([&] { best_sequences(model, sources, 0, options, 0); }, "at least 1 item, got 0");
}

namespace {

/// A random model: the logits of a row depend on all its tokens. A share of the tokens is impossible.
struct RandomModel {
  index_t vocab, beams;
  std::uint64_t seed;
  double impossible = 0;
  std::vector<std::vector<index_t>> rows = std::vector<std::vector<index_t>>(static_cast<std::size_t>(beams));

  std::vector<double> log_probabilities(const std::vector<index_t>& tokens) const {
    std::uint64_t hash = seed;
    for (index_t token : tokens) hash = 31 * hash + static_cast<std::uint64_t>(token) + 1;
    Random random(7, hash);
    Array logits = empty_array({vocab});
    const index_t sure = random.below(vocab);
    for (index_t v = 0; v < vocab; ++v) {
      logits.data()[v] = static_cast<real>(1.5 * random.normal());
      if (random.uniform() < impossible && v != sure) logits.data()[v] = -kInfinity;
    }
    const Tensor out = log_softmax(Tensor(std::move(logits)));
    return {out.data(), out.data() + vocab};
  }

  Tensor step(const IndexArray& tokens) {
    Array out = empty_array({std::ssize(rows), 1, vocab});
    for (std::size_t row = 0; row < rows.size(); ++row) {
      rows[row].push_back(tokens.data()[row]);
      const std::vector<index_t> written(rows[row].begin() + 1, rows[row].end());  // without the start token
      const std::vector<double> logits = log_probabilities(written);
      for (std::size_t v = 0; v < logits.size(); ++v) out(row, 0, v) = static_cast<real>(logits[v]);
    }
    return Tensor(std::move(out));
  }

  std::vector<Hypothesis> search(const BeamSearchOptions& options) {
    const auto select = [&](const IndexArray& from) {
      const auto old = rows;
      for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = old[from.data()[row]];
    };
    return beam_search(1, [&](const IndexArray& tokens) { return step(tokens); }, select, options)[0];
  }
};

double score_of(const Hypothesis& h, double power) {
  return h.log_probability / std::pow(static_cast<double>(h.tokens.size() + (h.ended ? 1 : 0)), power);
}

/// Every sequence that has a probability, the best first.
std::vector<Hypothesis> all_sequences(const RandomModel& model, const BeamSearchOptions& options) {
  std::vector<Hypothesis> open = {{{}, 0, false}}, out;
  while (!open.empty()) {
    const Hypothesis h = open.back();
    open.pop_back();
    if (std::ssize(h.tokens) == options.longest) {
      out.push_back(h);
      continue;
    }
    const std::vector<double> added = model.log_probabilities(h.tokens);
    for (index_t token = 0; token < model.vocab; ++token) {
      Hypothesis longer = h;
      longer.log_probability += added[token];
      if (longer.log_probability == -kInf) continue;
      longer.ended = token == options.end;
      if (!longer.ended) longer.tokens.push_back(token);
      (longer.ended ? out : open).push_back(longer);
    }
  }
  std::sort(out.begin(), out.end(), [&](const Hypothesis& a, const Hypothesis& b) {
    return score_of(a, options.length_power) > score_of(b, options.length_power);
  });
  return out;
}

/// Beam search that goes on to the greatest length, whatever is finished.
std::vector<Hypothesis> search_without_end(const RandomModel& model, const BeamSearchOptions& options) {
  const auto beams = static_cast<std::size_t>(options.beams);
  std::vector<Hypothesis> live = {{{}, 0, false}}, finished;
  for (index_t length = 1; length <= options.longest; ++length) {
    std::vector<Hypothesis> longer, next;
    for (const Hypothesis& h : live) {
      const std::vector<double> added = model.log_probabilities(h.tokens);
      for (index_t token = 0; token < model.vocab; ++token) {
        Hypothesis extended = {h.tokens, h.log_probability + added[token], token == options.end};
        extended.tokens.push_back(token);
        if (extended.log_probability > -kInf) longer.push_back(extended);
      }
    }
    std::stable_sort(longer.begin(), longer.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.log_probability > b.log_probability; });
    for (std::size_t rank = 0; rank < longer.size(); ++rank) {
      if (!longer[rank].ended && next.size() < beams) next.push_back(longer[rank]);
      if (!longer[rank].ended || rank >= beams) continue;
      longer[rank].tokens.pop_back();
      finished.push_back(longer[rank]);
    }
    live = next;
  }
  finished.insert(finished.end(), live.begin(), live.end());
  std::stable_sort(finished.begin(), finished.end(), [&](const Hypothesis& a, const Hypothesis& b) {
    return score_of(a, options.length_power) > score_of(b, options.length_power);
  });
  finished.resize(std::min(finished.size(), beams));
  return finished;
}

void check_same_sequences(const std::vector<Hypothesis>& got, const std::vector<Hypothesis>& want, double power) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    check_near(got[i].log_probability, want[i].log_probability, {tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-5)});
    check_near(score_of(got[i], power), score_of(want[i], power), {tolerance(1e-12, 1e-5), tolerance(1e-12, 1e-5)});
    if (!kDouble) continue;  // sequences with almost equal scores may change places
    CHECK(got[i].tokens == want[i].tokens);
    CHECK(got[i].ended == want[i].ended);
  }
}

}  // namespace

TEST_CASE("beam search with enough beams finds the best of all sequences") {
  for (index_t vocab = 2; vocab <= 6; ++vocab)
    for (index_t longest = 1; longest <= 6; ++longest) {
      const auto beams = std::max<index_t>(2, std::llround(std::pow(vocab - 1, longest)));
      if (beams > 130) continue;
      for (const double power : {-0.5, 0.0, 0.4, 1.0, 1.7})
        for (const double impossible : {0.0, 0.4}) {
          INFO("V ", vocab, ", at most ", longest, " tokens, power ", power, ", impossible ", impossible);
          RandomModel model{.vocab = vocab, .beams = beams, .seed = 5, .impossible = impossible};
          const BeamSearchOptions options = {
              .beams = beams, .start = 0, .end = 1, .longest = longest, .length_power = power};
          std::vector<Hypothesis> want = all_sequences(model, options);
          want.resize(std::min(want.size(), static_cast<std::size_t>(beams)));
          check_same_sequences(model.search(options), want, power);
        }
    }
}

TEST_CASE("beam search returns at most `beams` sequences, and ends only when no live one can win") {
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (index_t vocab = 2; vocab <= 6; ++vocab)
      for (index_t beams = 2; beams <= 5; ++beams)
        for (const double power : {-0.5, 0.0, 0.4, 1.0}) {
          const index_t longest = 1 + static_cast<index_t>(seed) % 6;
          INFO("seed ", seed, ", V ", vocab, ", ", beams, " beams, at most ", longest, " tokens, power ", power);
          RandomModel model{.vocab = vocab, .beams = beams, .seed = seed, .impossible = seed % 2 ? 0.4 : 0};
          const BeamSearchOptions options = {
              .beams = beams, .start = 0, .end = 1, .longest = longest, .length_power = power};
          const std::vector<Hypothesis> found = model.search(options);
          CHECK(!found.empty());
          CHECK(std::ssize(found) <= beams);
          for (const Hypothesis& h : found) CHECK(h.log_probability > -kInf);
          check_same_sequences(found, search_without_end(model, options), power);
        }
}

TEST_CASE("beam search with one beam takes the most likely token until that is the end") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomModel model{.vocab = 2 + static_cast<index_t>(seed) % 5, .beams = 1, .seed = seed};
    const BeamSearchOptions options = {.beams = 1, .start = 0, .end = 1, .longest = 6};
    Hypothesis want = {{}, 0, false};
    while (!want.ended && want.tokens.size() < 6) {
      const std::vector<double> added = model.log_probabilities(want.tokens);
      const auto best = std::max_element(added.begin(), added.end());
      want.log_probability += *best;
      want.ended = best - added.begin() == 1;
      if (!want.ended) want.tokens.push_back(best - added.begin());
    }
    check_same_sequences(model.search(options), {want}, 1);
  }
}

TEST_CASE("beam search does not stop at `beams` finished sequences while a better one is alive") {
  // From 2: end .34, 3 .36, 4 .30; after 3: end .45, 5 .55; after 4: end .5, 5 .5; after 5: the end.
  const double e = 1e-9;
  const BeamStep step = chain({{e, 1, e, e, e, e},
                               {e, 1, e, e, e, e},
                               {e, .34, e, .36, .3, e},
                               {e, .45, e, e, e, .55},
                               {e, .5, e, e, e, .5},
                               {e, 1, e, e, e, e}});
  const auto found = beam_search(1, step, kNoState, {.beams = 2, .start = 2, .end = 1, .longest = 5})[0];
  REQUIRE(found.size() == 2);
  CHECK(found[0].tokens == std::vector<index_t>{3, 5});
  check_near(found[0].log_probability, std::log(.36 * .55), {0, 1e-6});
  CHECK(found[1].tokens == std::vector<index_t>{4, 5});
}

TEST_CASE("beam search: fewer extensions than beams, and none of probability 0") {
  const BeamStep only_end = [](const IndexArray& tokens) { return Tensor::ones({shape_of(tokens)[0], 1, 1}); };
  const auto empty = beam_search(2, only_end, kNoState, {.beams = 2, .start = 0, .end = 0, .longest = 3});
  for (const auto& found : empty) {
    REQUIRE(found.size() == 1);
    CHECK(found[0].tokens.empty());
    CHECK(found[0].ended);
    CHECK(found[0].log_probability == 0);
  }
  const auto repeated = beam_search(1, only_end, kNoState, {.beams = 4, .start = 0, .end = 9, .longest = 3})[0];
  REQUIRE(repeated.size() == 1);
  CHECK(repeated[0].tokens == std::vector<index_t>{0, 0, 0});
  CHECK_FALSE(repeated[0].ended);
  const BeamStep one_way = chain({{0, 0, 1, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}});
  const auto found = beam_search(1, one_way, kNoState, {.beams = 3, .start = 0, .end = 1, .longest = 3})[0];
  REQUIRE(found.size() == 1);
  CHECK(found[0].tokens == std::vector<index_t>{2});
  CHECK(found[0].log_probability == 0);
}

TEST_CASE("beam search over a distribution that does not exist is an error") {
  const auto first_logits = [](const std::vector<double>& logits, index_t beams = 2) {
    const BeamStep step = [&](const IndexArray& tokens) {
      Array out =
          full_array({shape_of(tokens)[0], 1, std::ssize(logits)}, real(kNaN));  // rows that are not live do not count
      std::copy(logits.begin(), logits.end(), out.data());
      return Tensor(std::move(out));
    };
    return beam_search(1, step, kNoState, {.beams = beams, .start = 0, .end = 1, .longest = 1})[0];
  };
  for (index_t beams : {1, 2, 5})
    for (const auto& logits : std::vector<std::vector<double>>{
             {kNaN, kNaN, kNaN}, {-kInf, -kInf}, {kNaN, -kInf}, {0, kInf, 0}, {kInf, kInf}, {}})
      check_throws<ValueError>([&] { first_logits(logits, beams); },
                               "[beam_search] no token has a probability after 0");
  const auto found = first_logits({0, kNaN, std::log(3.0)});
  REQUIRE(found.size() == 2);
  CHECK(found[0].tokens == std::vector<index_t>{2});
  check_near(found[0].log_probability, std::log(0.75), {0, 1e-6});
  CHECK(found[1].tokens == std::vector<index_t>{0});
  const BeamStep dead_end = chain({{0, 0, 1, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 0}});
  check_throws<ValueError>(
      [&] { beam_search(1, dead_end, kNoState, {.beams = 2, .start = 0, .end = 1, .longest = 3}); },
      "no token has a probability after 1 tokens: the largest of 4 logits must be finite");
  for (double bad : {kNaN, kInf, -kInf})
    check_throws<ValueError>([&] { beam_search(1, dead_end, kNoState, {.start = 0, .end = 1, .length_power = bad}); },
                             "expected a finite length power, got");
}
