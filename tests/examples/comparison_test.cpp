// The two comparisons as a user runs them, with very few steps, and the parts that they share.
#include "child_process.hpp"
#include "support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;
namespace fs = std::filesystem;

#if defined(XTAPE_GRADIENT_FLOW) && !defined(XTAPE_DOUBLE)  // one dtype is enough: the programs have their own

namespace {

std::string text_of_sentences() {
  std::string text;
  const char* const names[] = {"man", "king", "god", "son", "day"};
  for (int i = 0; i < 3000; ++i)
    text += std::string("and the ") + names[i * i % 5] + " saw the " + names[i % 7 % 5] + "\n";
  return text;
}

/// Images of 8x8 pixels, each class with its own bright row.
std::string digits() {
  std::string csv;
  for (int item = 0; item < 200; ++item) {
    for (int pixel = 0; pixel < 64; ++pixel) csv += std::to_string(pixel / 8 == item % 10 % 8 ? 16 : item % 7) + ",";
    csv += std::to_string(item % 10) + "\n";
  }
  return csv;
}

std::size_t runs_in(const std::string& directory) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(directory)) count += fs::exists(entry.path() / "metrics.jsonl");
  return count;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("gradient_flow: one command trains all settings, prints its tables, and keeps what is finished") {
  const TemporaryDirectory work;
  work.write("text", text_of_sentences());
  const std::vector<std::string> options = {"--text", "text", "--steps", "2", "--seeds", "2", "--out", "flow"};
  const Finished first = run(XTAPE_GRADIENT_FLOW, options, work.path());
  INFO(first.err, first.out);
  CHECK(first.code == 0);
  // 5 models on 4 tasks, 5 changes of each and one more of the recurrent ones; 2 seeds each.
  CHECK(runs_in(work.path() + "/flow") == 2 * (5 * 4 + 5 * 5 + 4));
  for (const char* part : {"adding: loss (0.167 knowing nothing)", "copy: loss (1.792", "recall: loss (1.386",
                           "text: validation loss", "its bound |W|^lag", "lstm-1-layer-norm"})
    CHECK_MESSAGE(has(first.out, part), part);
  CHECK(has(content_of(work.path() + "/flow/tables.txt"), "lstm-0"));
  for (const char* page : {"compare-adding.html", "compare-text.html", "compare-changes-rnn.html"})
    CHECK_MESSAGE(has(content_of(work.path() + "/flow/" + page), "</html>"), page);
  CHECK(has(content_of(work.path() + "/flow/recall-gru-seed1/run.json"), "\"model\": \"gru\""));

  fs::remove(work.path() + "/flow/copy-rnn-seed0/results.json");  // as if it had been interrupted
  const auto kept = fs::last_write_time(work.path() + "/flow/copy-rnn-seed1/metrics.jsonl");
  const std::string tables = content_of(work.path() + "/flow/tables.txt");
  const Finished second = run(XTAPE_GRADIENT_FLOW, options, work.path());
  CHECK(second.code == 0);
  CHECK(has(second.out, "copy-rnn-seed0, "));
  CHECK(!has(second.out, "copy-rnn-seed1, "));
  CHECK(fs::last_write_time(work.path() + "/flow/copy-rnn-seed1/metrics.jsonl") == kept);
  CHECK(content_of(work.path() + "/flow/tables.txt") == tables);  // the same seed gives the same numbers

  const Finished other = run(XTAPE_GRADIENT_FLOW, {"--text", "text", "--steps", "3", "--out", "flow"}, work.path());
  CHECK(other.code == 2);
  CHECK(has(other.err, "made with other options"));
}

TEST_CASE("regularization: one command trains all settings and prints its tables") {
  const TemporaryDirectory work;
  work.write("text", text_of_sentences());
  work.write("digits.csv", digits());
  const std::vector<std::string> options = {"--text", "text",    "--digits", "digits.csv", "--steps",
                                            "2",      "--seeds", "1",        "--out",      "decay"};
  const Finished result = run(XTAPE_REGULARIZATION, options, work.path());
  INFO(result.err, result.out);
  CHECK(result.code == 0);
  for (const char* part : {"transformer: losses in nats", "lstm: norm of each matrix", "decay / lr, adam-l2",
                           "decay / lr, adamw", "decay part / gradient part", "digits: losses", "middle.weight"})
    CHECK_MESSAGE(has(result.out, part), part);
  CHECK(has(content_of(work.path() + "/decay/compare-digits.html"), "</html>"));
  const std::string split = content_of(work.path() + "/decay/lstm-adamw-1-seed0/update_split.csv");
  CHECK(has(split, "step,name,update,gradient,decay\n0,"));
  CHECK(has(split, "\n1,rnn.weight_hh_l0,"));
}

TEST_CASE("the comparisons: a run that fails is named, and the command fails at its end") {
  const TemporaryDirectory work;
  work.write("text", "expected more symbols");
  const Finished result =
      run(XTAPE_GRADIENT_FLOW, {"--text", "text", "--steps", "1", "--seeds", "1", "--out", "flow"}, work.path());
  CHECK(result.code == 1);
  CHECK(has(result.err, "text-rnn-seed0 failed"));
  CHECK(has(result.err, "5 of 49 runs failed"));
  CHECK(has(result.out, "adding: loss"));
}

TEST_CASE("the comparisons: without their data they make nothing") {
  const TemporaryDirectory work;
  for (const char* program : {XTAPE_GRADIENT_FLOW, XTAPE_REGULARIZATION}) {
    const Finished result = run(program, {"--quick", "--text", "missing", "--out", "here"}, work.path());
    CHECK(result.code == 2);
    CHECK(has(result.err, "missing"));
    CHECK(!fs::exists(work.path() + "/here"));
  }
}

#endif
