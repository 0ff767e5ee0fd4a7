#include "support.hpp"
#include "temporary_files.hpp"

#include <vector>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("a vocabulary of characters numbers the distinct ones by code point") {
  const Vocabulary vocabulary = Vocabulary::characters("cab\xE2\x82\xAC a\xC3\xA9");  // cab€ aé
  CHECK(vocabulary.size() == 6);
  CHECK(vocabulary.symbols() == " abc\xC3\xA9\xE2\x82\xAC");
  const IndexArray ids = vocabulary.encode(
      "\xE2\x82\xAC"
      "bc ");
  CHECK(ids.dimension() == 1);
  CHECK(list(ids) == std::vector<index_t>{5, 2, 3, 0});
  CHECK(vocabulary.decode(ids) ==
        "\xE2\x82\xAC"
        "bc ");
  CHECK(Vocabulary::characters(vocabulary.symbols()).symbols() == vocabulary.symbols());
}

TEST_CASE("encoding nothing gives no ids, and decoding takes any shape") {
  const Vocabulary vocabulary = Vocabulary::characters("ab");
  CHECK(vocabulary.encode("").shape() == empty_array<IndexArray>({0}).shape());
  IndexArray ids = empty_array<IndexArray>({2, 2});
  std::copy_n(std::vector<index_t>{1, 0, 0, 1}.begin(), 4, ids.data());
  CHECK(vocabulary.decode(ids) == "baab");
}

TEST_CASE("an unknown character is named with its position") {
  const Vocabulary vocabulary = Vocabulary::characters("ab\xC3\xA9");
  check_throws<ValueError>(
      [&] {
        vocabulary.encode(
            "a\xC3\xA9"
            "bz");
      },
      "[vocabulary] expected one of the 3 known characters, got 'z' (U+007A) at position 3");
  check_throws<ValueError>([&] { vocabulary.encode("a\n"); }, "got U+000A at position 1");
  check_throws<ValueError>([&] { vocabulary.encode("a\xC3"); }, "[utf8] byte 1 (0xC3) is not valid UTF-8");
}

TEST_CASE("an id outside the vocabulary is refused") {
  const Vocabulary vocabulary = Vocabulary::characters("ab");
  check_throws<IndexError>([&] { vocabulary.decode(std::vector<index_t>{0, 2}); }, "expected ids in 0..1, got 2");
  check_throws<IndexError>([&] { vocabulary.decode(std::vector<index_t>{-1}); }, "expected ids in 0..1, got -1");
}

TEST_CASE("a vocabulary of nothing is refused") {
  check_throws<ValueError>([] { Vocabulary::characters(""); }, "expected at least 1 character, got 0");
  check_throws<ValueError>([] { Vocabulary::characters("a\xFF"); }, "[utf8] byte 1 (0xFF)");
}

TEST_CASE("bytes round-trip whatever they are") {
  const Vocabulary vocabulary = Vocabulary::bytes();
  CHECK(vocabulary.size() == 256);
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  CHECK(vocabulary.symbols() == all);
  const IndexArray ids = vocabulary.encode(all);
  for (index_t i = 0; i < 256; ++i) CHECK(ids.data()[i] == i);
  CHECK(vocabulary.decode(ids) == all);
}

TEST_CASE("a vocabulary can have ids of its own") {
  const TemporaryDirectory work;
  const Vocabulary vocabulary = Vocabulary::load(work.write("vocab.json", "{\"b\": 0, \"\\n\": 2, \"\xC3\xA9\": 1}"));
  CHECK(vocabulary.symbols() == "b\xC3\xA9\n");
  CHECK(vocabulary.encode("\xC3\xA9\nb") == indices({3}, {1, 2, 0}));
  CHECK(vocabulary.decode(indices({3}, {1, 2, 0})) == "\xC3\xA9\nb");
  CHECK(Vocabulary::from_symbols(vocabulary.symbols()).encode("\n") == indices({1}, {2}));
  check_throws<ValueError>([&] { vocabulary.encode("a"); }, "got 'a' (U+0061) at position 0");
  check_throws<ValueError>([] { Vocabulary::from_symbols("aba"); }, "'a' (U+0061) stands twice");
  check_throws<ValueError>([] { Vocabulary::from_symbols(""); }, "expected at least 1 character, got 0");
}

TEST_CASE("a vocabulary file that is none is refused") {
  const TemporaryDirectory work;
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "this is not a JSON object"},
      {"[]", "this is not a JSON object"},
      {"{}", "this is not a JSON object"},
      {R"({"ab": 0})", "'ab' is not one character"},
      {R"({"": 0})", "'' is not one character"},
      {R"({"a": 1})", "expected an id of 'a' (U+0061) in 0..0, got 1"},
      {R"({"a": -1})", "expected an id of 'a' (U+0061) in 0..0, got -1"},
      {R"({"a": "0"})", "expected an id of 'a' (U+0061) in 0..0, got \"0\""},
      {R"({"a": 1, "b": 1})", "the id 1 stands twice"},
  };
  for (const auto& [text, message] : table) {
    const std::string path = work.write("vocab.json", text);
    check_throws<FileError>([&] { Vocabulary::load(path); }, message);
  }
}
