// The classifying example as a user runs it, on a small text.
#include "child_process.hpp"
#include "support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;

#if defined(XTAPE_CLASSIFY_VERSES) && !defined(XTAPE_DOUBLE)  // one dtype is enough: the program has its own

namespace {

/// 66 books of 6 chapters of 4 verses. Two words in one order or the other tell the part: single words tell nothing.
void write_verses(const TemporaryDirectory& work) {
  const int last[] = {5, 17, 22, 39, 44, 66};
  const char* const names[] = {"man", "king", "god"};
  std::string text, references = "book\tchapter\tverse\n";
  int number = 0;
  for (int book = 1; book <= 66; ++book) {
    int part = 0;
    while (last[part] < book) ++part;
    for (int chapter = 1; chapter <= 6; ++chapter)
      for (int verse = 1; verse <= 4; ++verse, ++number) {
        // The six ordered pairs of three words.
        const int first = part / 2, second = (first + 1 + part % 2) % 3;
        text += "and the " + std::string(names[first]) + " saw the " + names[second] + " and the " +
                names[3 - first - second] + "\n";
        references += "B" + std::to_string(book) + "\t" + std::to_string(chapter) + "\t" + std::to_string(verse) + "\n";
      }
  }
  work.write("text", text);
  work.write("references", references);
}

Finished train_classifier(const TemporaryDirectory& work, std::vector<std::string> options) {
  const std::vector<std::string> small = {"--text",         work.path() + "/text",
                                          "--references",   work.path() + "/references",
                                          "--width",        "32",
                                          "--heads",        "2",
                                          "--layers",       "1",
                                          "--batch",        "32",
                                          "--dropout",      "0",
                                          "--word-dropout", "0",
                                          "--lr",           "0.003",
                                          "--threads",      "1"};
  options.insert(options.begin(), small.begin(), small.end());
  return run(XTAPE_CLASSIFY_VERSES, options, work.path());
}

}  // namespace

TEST_CASE("the classifying example learns the order of words, which its baseline cannot see") {
  const TemporaryDirectory work;
  write_verses(work);
  for (const std::string pooling : {"mean", "first"}) {
    const Finished result =
        train_classifier(work, {"--pooling", pooling, "--steps", "250", "--val-interval", "1000", "--out", pooling});
    INFO(result.err, result.out);
    CHECK(result.code == 0);
    CHECK(number_after(result.out, "held-out chapters: ") > 95);
    CHECK(number_after(result.out, "naive Bayes with smoothing 0.01: ") < 50);
    CHECK(result.out.find("gospels and acts") != std::string::npos);
  }
}

TEST_CASE("bad input to the classifying example gives one line, exit code 2 and no run folder") {
  const TemporaryDirectory work;
  write_verses(work);
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{"--text", "none"}, "no such file"},
      {{"--references", work.path() + "/text"},
       "line 1 of the references: expected the columns book, chapter, verse, got"},
      {{"--attention", "linear"}, "--attention"},
      {{"--heads", "3"}, "expected heads that divide the width 32, got 3"},
  };
  for (const auto& [options, message] : table) {
    const Finished result = train_classifier(work, options);
    INFO(options.front(), " ", options.back(), " gave: ", result.err);
    CHECK(result.code == 2);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(!std::filesystem::exists(work.path() + "/runs"));
  }
}

#endif
