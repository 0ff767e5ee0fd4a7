// Which of several runs is best, and when that cannot be said.
#include <xtape/inspect/report/compare_page.hpp>
#include <xtape/inspect/report/ranking.hpp>

#include "report_runs.hpp"
#include "support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;

namespace {

bool found_in(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Writes a run of the cell whose losses lie around a level.
std::string run_at(const TemporaryDirectory& work, const std::string& cell, double level, std::uint64_t seed,
                   bool finished = true, index_t classes = 65, const std::string& text = "kjv.txt") {
  const auto change = [=](StepRecord& r, double part) {
    r.loss = level + 0.01 * static_cast<double>(seed) + 1 - part;
    r.classes = classes;
  };
  return write_run(work, cell + std::to_string(seed), {.steps = 30, .change = change, .finished = finished},
                   {{"cell", cell}, {"text", text}}, seed);
}

Headline ranking(const std::vector<std::string>& directories) { return ranking_headline(compare_runs(directories)); }

}  // namespace

TEST_CASE("the ranking names the next beside the best, and says if the seeds leave the order open") {
  const TemporaryDirectory work;
  std::vector<std::string> apart, close, single;
  for (std::uint64_t seed : {1u, 2u, 3u}) {
    apart.push_back(run_at(work, "gru", 1, seed));
    apart.push_back(run_at(work, "lstm", 1.5, seed));
    apart.push_back(run_at(work, "rnn", 3, seed));
    close.push_back(apart[apart.size() - 3]);
    close.push_back(run_at(work, "other", 1.015, seed));
  }
  Headline head = ranking(apart);
  CHECK(head.title == "gru is best.");
  CHECK(
      head.lede.starts_with("Training loss 1.05 against 1.55 of lstm, the next. The seeds do not overlap (gru: 1.04 to "
                            "1.06; lstm: 1.54 to 1.56). 1 setting differs."));
  head = ranking(close);
  CHECK(head.title == "gru is first, but not for sure.");
  CHECK(found_in(head.lede,
                 "The difference is within the spread of the seeds (gru: 1.04 to 1.06; other: 1.06 to 1.08)."));
  head = ranking({apart[0], apart[1]});
  CHECK(head.title == "gru1 is best.");
  CHECK(found_in(head.lede, "With one seed each it is not known what the seed alone changes."));
  CHECK(within_spread({1, 1, 1, 1, 0}, {1.1, 0.9, 1.2, 3, 0}) == true);
  CHECK(within_spread({1, 1, 1, 1, 0}, {1.1, 1.05, 1.2, 3, 0}) == false);
  CHECK(!within_spread({1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}));
}

TEST_CASE("losses over other classes or other data have no order") {
  const TemporaryDirectory work;
  const std::string one = run_at(work, "gru", 1, 1), other = run_at(work, "lstm", 2, 1, true, 10);
  Headline head = ranking({one, other});
  CHECK(head.title == "The losses of these runs cannot be compared.");
  CHECK(head.lede == "There is no best one: they have 10 and 65 classes. 1 setting differs.");
  head = ranking({one, run_at(work, "rnn", 2, 1, true, 65, "novel.txt")});
  CHECK(head.lede == "There is no best one: the option text differs. 2 settings differ.");
}

TEST_CASE("runs that are not finished have no place, and the table says how they ended") {
  const TemporaryDirectory work;
  const std::string best = run_at(work, "gru", 1, 1), next = run_at(work, "lstm", 2, 1),
                    left = run_at(work, "rnn", 0.5, 1, false);
  work.write("rnn1/events.jsonl", event_line({290, "stopped", "stopped by SIGINT after 291 of 300 steps"}));
  const Comparison c = compare_runs({best, next, left});
  Headline head = ranking_headline(c);
  CHECK(head.title == "gru1 is best.");
  CHECK(found_in(head.lede, "Without a place, because not finished: rnn1 (stopped)."));
  CHECK(found_in(compare_table(c), "  finished  "));
  CHECK(found_in(compare_table(c), "  stopped   "));
  CHECK(found_in(compare_page(c), "<th>State</th>"));
  CHECK(!found_in(compare_page(compare_runs({best, next})), "<th>State</th>"));
  head = ranking({best, left});
  CHECK(head.title == "2 runs side by side.");
}
