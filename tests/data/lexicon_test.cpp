#include <xtape/data/lexicon.hpp>

#include <xtape/core/error.hpp>

#include "support.hpp"

#include <set>

using namespace xtape;
using namespace xtape::test;

namespace {

const char* const kText =
    "MNCL\n"
    "(\"cat\" n (((k ae t) 1)))\n"
    "(\"a\" dt (((ax) 0)))\n"
    "(\"a\" n (((ey) 1)))\n"
    "(\"aback\" nil (((ax) 0) ((b ae k) 1)))\n"
    "(\"a\" nil (((ey) 0)))\n"
    "(\"McX\" nil (((m ax k) 0)))\n"
    "(\"o'b\" nil (((ow b) 0)))\n";

std::vector<LexiconEntry> some_entries(std::size_t count) {
  std::vector<LexiconEntry> out;
  for (std::size_t i = 0; i < count; ++i) {
    std::string word;
    for (std::size_t n = i + 1; n > 0; n /= 26) word += static_cast<char>('a' + n % 26);
    out.push_back({word, {{"k", "ae"}, {"t"}}});
  }
  return out;
}

}  // namespace

TEST_CASE("a Festival lexicon: words with their variants, without stress, in the order of the file") {
  const std::vector<LexiconEntry> entries = parse_lexicon(kText, "file");
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].word == "cat");
  CHECK(entries[0].variants == std::vector<std::vector<std::string>>{{"k", "ae", "t"}});
  CHECK(entries[1].word == "a");
  CHECK(entries[1].variants == std::vector<std::vector<std::string>>{{"ax"}, {"ey"}});
  CHECK(entries[2].variants == std::vector<std::vector<std::string>>{{"ax", "b", "ae", "k"}});
}

TEST_CASE("a lexicon that is none says in which line") {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"", "file has no words of the letters a..z"},
      {"MNCL\n(\"McX\" nil (((m) 0)))\n", "has no words"},
      {"(\"cat\" n (((k) 1)))\ncat\n", "file:2: column 1: expected '(', got 'c'"},
      {"(\"cat", "file:1: column 3: expected the end of the word, got 'c'"},
      {"(\"cat\" (((k) 1)))", "expected a part of speech, got '('"},
      {"(\"cat\" n (((k 1)))", "expected a stress, got ')'"},
      {"(\"cat\" n (((k) 1))", "expected ')', got the end of the line"},
      {"(\"cat\" n (((\"k\") 1)))", "expected a sound, got '\"'"},
      {"(\"cat\" n (((k) 1))) x", "expected nothing more, got 'x'"},
  };
  for (const auto& [text, message] : table) check_throws<FileError>([&] { parse_lexicon(text, "file"); }, message);
}

TEST_CASE("pronunciations: words are on one side with all their variants, and every pair comes once an epoch") {
  const PronunciationData data(some_entries(300), {.test_words = 60, .validation_words = 40, .seed = 1});
  CHECK(data.test().size() == 60);
  CHECK(data.validation().size() == 40);
  CHECK(data.train().size() == 200);
  std::set<std::string> words;
  for (const auto* side : {&data.train(), &data.validation(), &data.test()})
    for (const auto& word : *side) {
      CHECK(word.variants.size() == 2);
      words.insert(word.word);
    }
  CHECK(words.size() == 300);
  CHECK(data.sounds() == 6);
  CHECK(data.sound_name(3) == "ae");
  CHECK(data.sounds_text({3, 3}) == "ae ae");
  CHECK(data.sounds_text({}) == "");
  CHECK(data.longest() == 3);
  std::map<std::vector<index_t>, int> seen;
  for (index_t step = 0; step < 400 / 50; ++step) {
    const PronunciationData::Batch batch = data.train_batch(step, 50);
    for (std::size_t b = 0; b < 50; ++b) {
      CHECK(batch.inputs(b, 0) == PronunciationData::kStart);
      std::vector<index_t> pair(batch.source.ids.data() + b * batch.source.ids.shape()[1],
                                batch.source.ids.data() + (b + 1) * batch.source.ids.shape()[1]);
      const std::size_t time = batch.targets.shape()[1];
      for (std::size_t t = 0; t < time; ++t) {  // targets are the inputs one step on, the end, then what is ignored
        const index_t target = batch.targets(b, t);
        if (t + 1 < time && target >= 0 && target != PronunciationData::kEnd) CHECK(batch.inputs(b, t + 1) == target);
        pair.push_back(target);
      }
      while (pair.back() == -100) pair.pop_back();
      CHECK(pair.back() == PronunciationData::kEnd);
      ++seen[pair];
    }
  }
  CHECK(seen.size() == 400);
  CHECK(data.train_batch(3, 50).inputs == data.train_batch(3, 50).inputs);
  check_throws<ValueError>([] { PronunciationData(some_entries(5), {.test_words = 4, .validation_words = 1}); },
                           "expected words for validation and test within the 5 that there are, got ");
}

TEST_CASE("pronunciation errors: the nearest variant counts") {
  const std::vector<PronunciationData::Word> words = {{"a", {1}, {{3}, {4, 5}}}, {"b", {2}, {{6, 7, 8}}}};
  const PronunciationErrors errors = pronunciation_errors(words, {{4, 5}, {6, 8}});
  CHECK(errors.phoneme_error_rate == 1.0 / 5);
  CHECK(errors.word_error_rate == 0.5);
  check_throws<ValueError>([&] { pronunciation_errors(words, {{4}}); }, "a guess for each");
}
