#include <xtape/data/verses.hpp>

#include <xtape/core/error.hpp>

#include "support.hpp"

#include <set>

using namespace xtape;
using namespace xtape::test;

namespace {

/// 66 books of 5 chapters of 3 verses; the words tell the part.
struct SomeVerses {
  std::string text, references = "book\tchapter\tverse\n";

  SomeVerses() {
    for (index_t book = 1; book <= 66; ++book)
      for (int chapter = 1; chapter <= 5; ++chapter)
        for (int verse = 1; verse <= 3; ++verse) {
          text += "And part" + std::string(1, static_cast<char>('a' + verse_part(book))) + " said, the LORD's.\n";
          references +=
              "B" + std::to_string(book) + "\t" + std::to_string(chapter) + "\t" + std::to_string(verse) + "\n";
        }
  }
};

}  // namespace

TEST_CASE("the parts of the text, by books") {
  const std::vector<std::pair<index_t, index_t>> table = {{1, 0},  {5, 0},  {6, 1},  {17, 1}, {18, 2}, {22, 2},
                                                          {23, 3}, {39, 3}, {40, 4}, {44, 4}, {45, 5}, {66, 5}};
  for (const auto& [book, part] : table) CHECK(verse_part(book) == part);
  check_throws<IndexError>([] { verse_part(0); }, "expected books in 1..66, got 0");
  check_throws<IndexError>([] { verse_part(67); }, "expected books in 1..66, got 67");
}

TEST_CASE("words: lower case, apostrophes inside, stops by themselves") {
  CHECK(words_of("And the LORD's house; 'tis so!") ==
        std::vector<std::string>{"and", "the", "lord's", "house", ";", "tis", "so", "!"});
  CHECK(words_of("").empty());
}

TEST_CASE("verses: parts, chapters, and what is wrong with a table") {
  const SomeVerses some;
  const std::vector<Verse> verses = parse_verses(some.text, some.references);
  REQUIRE(verses.size() == 990);
  CHECK(verses.front().part == 0);
  CHECK(verses.back().part == 5);
  CHECK(verses[3].group == 1);
  CHECK(verses.back().group == 329);
  check_throws<FileError>([&] { parse_verses(some.text, "x"); },
                          "line 1 of the references: expected the columns book, chapter, verse, got");
  check_throws<FileError>([&] { parse_verses(some.text + "more\n", some.references); },
                          "expected a reference for each of 991 verses, got 990");
  check_throws<FileError>([&] { parse_verses("a\n", "book\tchapter\tverse\nB1\t1\t1\n"); }, "expected 66 books, got 1");
  check_throws<FileError>([&] { parse_verses("a\n", "book\tchapter\tverse\nB1 1\n"); },
                          "line 2 of the references: expected three columns, got");
  check_throws<FileError>([&] { parse_verses(some.text + "more\n", some.references + "B67\t1\t1\n"); },
                          "expected 66 books, got another");
}

TEST_CASE("verse data: chapters on one side, every verse once an epoch, rare words unknown") {
  const SomeVerses some;
  const VerseData data(parse_verses(some.text, some.references), {.seed = 2});
  CHECK(data.train().size() + data.validation().size() + data.test().size() == 990);
  CHECK(data.test().size() % 3 == 0);
  CHECK(std::abs(static_cast<double>(data.test().size()) - 0.15 * 990) < 6);
  CHECK(data.vocab() == 3 + 6 + 6);  // and , the lord's said . and the names of the parts
  std::size_t seen = 0;
  const index_t batches = (std::ssize(data.train()) + 31) / 32;
  for (index_t step = 0; step < batches; ++step) {
    const VerseData::Batch batch = data.train_batch(step, 32);
    seen += batch.parts.size();
    for (std::size_t b = 0; b < batch.parts.size(); ++b) CHECK(batch.words.ids(b, 0) == VerseData::kStart);
  }
  CHECK(seen == data.train().size());
  const VerseData::Batch hidden = data.train_batch(0, 32, 1);
  for (std::size_t t = 1; t < 8; ++t) CHECK(hidden.words.ids(0, t) == VerseData::kUnknown);
  CHECK(data.train_batch(0, 32, 0.5).words.ids == data.train_batch(0, 32, 0.5).words.ids);
  check_throws<ValueError>([&] { VerseData(parse_verses(some.text, some.references), {.test_share = 1}); },
                           "expected positive shares");
}

TEST_CASE("naive Bayes: by hand, and it finds the word that tells") {
  // With counts raised by 1: P(1|0) = 3/6, P(2|0) = 2/6, P(1|1) = 1/4, P(2|1) = 2/4; P(0) = 2/3.
  const std::vector<VerseData::Example> examples = {{{1, 1}, 0}, {{2}, 0}, {{2}, 1}};
  const NaiveBayes model(examples, 3, 2, 1);
  CHECK(model.classify({1}) == 0);
  CHECK(model.classify({2, 2}) == 1);  // 2/3 (2/6)^2 = 0.074 against 1/3 (2/4)^2 = 0.083
  CHECK(model.classify({2}) == 0);     // 2/3 2/6 against 1/3 2/4
  check_throws<ValueError>([&] { NaiveBayes(examples, 3, 2, 0); }, "a positive smoothing, got ");
  const SomeVerses some;
  const VerseData data(parse_verses(some.text, some.references), {.seed = 2});
  const NaiveBayes best = NaiveBayes::chosen(data, {0.1, 1});
  for (const auto& example : data.test()) CHECK(best.classify(example.words) == example.part);
  check_throws<ValueError>([&] { NaiveBayes::chosen(data, {}); }, "expected at least 1 smoothing, got 0");
}
