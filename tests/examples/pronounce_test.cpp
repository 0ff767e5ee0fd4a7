// The pronouncing example as a user runs it, on a small lexicon.
#include "child_process.hpp"
#include "support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;

#if defined(XTAPE_PRONOUNCE) && !defined(XTAPE_DOUBLE)  // one dtype is enough: the program has its own

namespace {

/// Words of three letters out of five, each letter said alone.
std::string some_lexicon() {
  const char* const sounds[] = {"ae", "b", "k", "d", "eh"};
  std::string text = "MNCL\n";
  for (int i = 0; i < 125; ++i) {
    const int letters[] = {i / 25, i / 5 % 5, i % 5};
    text += "(\"";
    for (int letter : letters) text += static_cast<char>('a' + letter);
    text += "\" nil (((";
    for (int letter : letters) text += std::string(sounds[letter]) + " ";
    text += ") 1)))\n";
  }
  return text;
}

Finished train_pronouncer(const TemporaryDirectory& work, std::vector<std::string> options) {
  const std::vector<std::string> small = {
      "--validation", "5",  "--held-out", "20", "--lexicon", work.path() + "/lexicon",
      "--width",      "32", "--layers",   "1",  "--heads",   "2",
      "--batch",      "16", "--dropout",  "0",  "--threads", "1"};
  options.insert(options.begin(), small.begin(), small.end());
  return run(XTAPE_PRONOUNCE, options, work.path());
}

}  // namespace

TEST_CASE("the pronouncing example learns to say new words, with both models and by several kinds of attention") {
  const TemporaryDirectory work;
  std::string text = some_lexicon();
  work.write("lexicon", text);
  const std::vector<std::vector<std::string>> variants = {
      {"--model", "transformer"}, {"--model", "rnn", "--lr", "0.005"}, {"--attention", "mqa"}, {"--attention", "elu"}};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    std::vector<std::string> options = variants[i];
    INFO(options[1]);
    options.insert(options.end(), {"--held-out", "20", "--steps", "500", "--val-interval", "1000", "--out",
                                   "run" + std::to_string(i)});
    const Finished result = train_pronouncer(work, options);
    INFO(result.err);
    CHECK(result.code == 0);
    CHECK(number_after(result.out, "phoneme error rate ") < 20);
    CHECK(result.out.find("attention of the sounds of '") != std::string::npos);
    CHECK(result.out.find("held-out words: 20, beams: 4") != std::string::npos);
  }
}

TEST_CASE("bad input to the pronouncing example gives one line, exit code 2 and no run folder") {
  const TemporaryDirectory work;
  work.write("lexicon", some_lexicon());
  work.write("other", "no lexicon\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{"--lexicon", "none"}, "no such file"},
      {{"--lexicon", "other"}, "other:1: column 1: expected '(', got "},
      {{"--attention", "linear"}, "--attention"},
      {{"--heads", "3"}, "expected heads that divide the width 32, got 3"},
      {{"--held-out", "2000"}, "for validation and test within the 125 that there are, got 5 and 2000"},
  };
  for (const auto& [options, message] : table) {
    const Finished result = train_pronouncer(work, options);
    INFO(options.front(), " ", options.back(), " gave: ", result.err);
    CHECK(result.code == 2);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(!std::filesystem::exists(work.path() + "/runs"));
  }
}

#endif
