// What all readers have in common: byte order marks, plus signs, numbers below the smallest double.
#include <xtape/data/csv.hpp>
#include <xtape/data/gzip.hpp>
#include <xtape/data/json.hpp>
#include <xtape/data/lexicon.hpp>
#include <xtape/data/series.hpp>
#include <xtape/data/text.hpp>
#include <xtape/data/verses.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>

#include "gzip_files.hpp"
#include "support.hpp"
#include "temporary_files.hpp"

#include <functional>
#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

namespace {

const std::string kMark = "\xEF\xBB\xBF";

std::string verses_of(const std::string& line) {
  std::string out;
  for (int book = 1; book <= 66; ++book) out += line + "\n";
  return out;
}

std::string references() {
  std::string out = "book\tchapter\tverse\n";
  for (int book = 1; book <= 66; ++book) out += "B" + std::to_string(book) + "\t1\t1\n";
  return out;
}

/// A reader of a file: what it got, as text.
struct FileReader {
  const char* name;
  std::string content;
  std::function<std::string(const std::string& path)> read;
};

std::vector<FileReader> file_readers() {
  std::string text, series = "x\n";
  for (int i = 0; i < 60; ++i) {
    text += "abcd";
    series += std::to_string(i * i % 7) + "\n";
  }
  return {
      {"text", text,
       [](const std::string& path) {
         const TextData data = load_text(path, {.context = 4});
         return data.vocabulary().symbols() + data.fingerprint() + std::to_string(data.train_size());
       }},
      {"text to evaluate", text, [](const std::string& path) { return read_text(path); }},
      {"vocabulary", R"({"a": 0, "b": 1})", [](const std::string& path) { return Vocabulary::load(path).symbols(); }},
      {"name map", R"({"a": "b"})", [](const std::string& path) { return *NameMap::load(path)("a.c"); }},
      {"table", "x,y\n1,2\n",
       [](const std::string& path) {
         return std::to_string(load_csv(path).column("x")) + std::to_string(load_csv(path).rows());
       }},
      {"series", series,
       [](const std::string& path) {
         return number_text(load_series(path, "x", {.context = 3, .horizon = 1, .season = 1}).value(9));
       }},
      {"lexicon", "MNCL\n(\"ab\" nil (((ah b ) 1)))\n",
       [](const std::string& path) { return parse_lexicon(read_file(path), path).at(0).word; }},
      {"verses", verses_of("and"),
       [](const std::string& path) { return parse_verses(read_file(path), references()).at(0).text; }},
      {"references", references(),
       [](const std::string& path) { return parse_verses(verses_of("and"), read_file(path)).at(0).text; }},
      {"lines of a run", R"({"format_version": 1, "step": 3})",
       [](const std::string& path) { return std::to_string(read_metrics_line(read_file(path)).value().step); }},
  };
}

/// A reader of a number in a text.
struct NumberReader {
  const char* name;
  std::function<double(const std::string& number)> read;
};

double option(const std::string& value) {
  Args args("program", "About.");
  const auto x = args.number("x", 0, {-1e300, 1e300}, "");
  const std::string word = "--x=" + value;
  const char* argv[] = {"program", word.c_str()};
  args.parse(2, argv);
  return x;
}

std::vector<NumberReader> number_readers(const TemporaryDirectory& work) {
  return {
      {"table", [](const std::string& text) { return CsvTable("x\n" + text + "\n", "table").number(0, 0); }},
      {"series",
       [&work](const std::string& text) {
         std::string rows = "x\n" + text + "\n";
         for (int i = 0; i < 60; ++i) rows += std::to_string(i * i % 7) + "\n";
         return load_series(work.write("series.csv", rows), "x", {.context = 3, .horizon = 1, .season = 1}).value(0);
       }},
      {"option", option},
  };
}

}  // namespace

TEST_CASE("a byte order mark is no part of what any reader reads") {
  const TemporaryDirectory work;
  for (const FileReader& reader : file_readers()) {
    CAPTURE(reader.name);
    const std::string plain = reader.read(work.write("plain", reader.content));
    CHECK(reader.read(work.write("marked", kMark + reader.content)) == plain);
  }
  CHECK(CsvTable(unpack_gzip(packed(kMark + "x\n1\n"), "packed"), "packed").column("x") == 0);
}

TEST_CASE("a byte order mark is no symbol of a text of characters, but three of a text of bytes") {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "abcd";
  const TextData plain(text, {.context = 4}), marked(kMark + text, {.context = 4});
  CHECK(marked.vocab() == 4);
  CHECK(marked.fingerprint() == plain.fingerprint());
  CHECK(marked.train_batch(0, 3).inputs == plain.train_batch(0, 3).inputs);
  CHECK(TextData(kMark + kMark + text, {.context = 4}).vocab() == 5);  // the second is a character
  const TextOptions bytes = {.context = 4, .symbols = Symbols::bytes};
  CHECK(TextData(kMark + text, bytes).train_size() + TextData(kMark + text, bytes).validation_size() == 203);
}

TEST_CASE("a plus sign, and a number below the smallest double, are the same to every reader of numbers") {
  const TemporaryDirectory work;
  for (const NumberReader& reader : number_readers(work)) {
    CAPTURE(reader.name);
    CHECK(reader.read("+1.5") == 1.5);
    CHECK(reader.read("+1e2") == 100);
    CHECK(reader.read("1e-400") == 0);
    CHECK(reader.read("-1e-400") == 0);
    CHECK(reader.read("5e-324") == 5e-324);
    for (const char* wrong : {"1e400", "-1e400", "+-1", "++1", "1,5", "nan", "inf", "0x1"}) {
      CAPTURE(wrong);
      CHECK_THROWS_AS(reader.read(wrong), Error);
    }
  }
  CHECK(CsvTable("x\n+7\n", "table").integer(0, 0, 0, 9) == 7);
  // JSON has no plus sign; its small and large numbers are those of the other readers.
  CHECK(parse_json<json>("1e-400") == 0.0);
  CHECK(parse_json<json>("1e400").is_discarded());
  CHECK(parse_json<json>("+1").is_discarded());
}

TEST_CASE("text that is not UTF-8 comes back from JSON byte for byte") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text :
       {std::string(), std::string("plain"), std::string("caf\xC3\xA9 %41"), std::string("caf\xE9.txt"), all}) {
    const json stored = json_bytes<json>(text);
    CHECK(bytes_of(parse_json<json>(stored.dump())) == text);
    CHECK(stored.is_string() == is_utf8(text));
  }
  CHECK(json_bytes<json>(std::string("caf\xE9 %.txt")).dump() == R"({"bytes":"caf%E9%20%25.txt"})");
  for (const char* wrong : {R"({"bytes": "%"})", R"({"bytes": "%4"})", R"({"bytes": "%zz"})", R"({"bytes": 3})", "{}",
                            "3", "null", R"({"bytes": "a", "more": 1})"}) {
    CAPTURE(wrong);
    CHECK(!find_bytes(parse_json<json>(wrong)));
    CHECK_THROWS_AS(bytes_of(parse_json<json>(wrong)), json::exception);
  }
}
