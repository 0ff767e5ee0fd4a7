#include <xtape/data/utf8.hpp>

#include "support.hpp"
#include "temporary_files.hpp"

#include <vector>

using namespace xtape;
using namespace xtape::test;

namespace {

// Characters that tell their own position: symbol i is the code point 0x4E00 + i (three bytes each), id i.
std::string counting(index_t size) {
  std::string text;
  for (index_t i = 0; i < size; ++i) append_code_point(text, static_cast<char32_t>(0x4E00 + i));
  return text;
}

}  // namespace

TEST_CASE("training windows are runs of the training split with their targets one further") {
  const TextData text(counting(200), {.context = 7});
  CHECK(text.vocab() == 200);
  CHECK(text.train_size() == 180);
  CHECK(text.validation_size() == 20);
  std::vector<bool> started(180);
  for (index_t step = 0; step < 200; ++step) {
    const Batch batch = text.train_batch(step, 16);
    REQUIRE(batch.inputs.shape() == Shape{16, 7});
    REQUIRE(batch.targets.shape() == Shape{16, 7});
    for (std::size_t b = 0; b < 16; ++b) {
      const index_t start = batch.inputs(b, 0);
      started[start] = true;
      for (std::size_t t = 0; t < 7; ++t) {
        REQUIRE(batch.inputs(b, t) == start + static_cast<index_t>(t));
        REQUIRE(batch.targets(b, t) == start + static_cast<index_t>(t) + 1);
      }
      REQUIRE(batch.targets(b, 6) < 180);
    }
  }
  // 180 - 7 = 173 possible starts, the last of which has the last training symbol as its last target.
  CHECK(std::count(started.begin(), started.end(), true) == 173);
  CHECK(started[172]);
}

TEST_CASE("training windows depend on the seed and the step only") {
  const std::string content = counting(5000);
  const TextData text(content, {.context = 8, .seed = 3});
  const TextData again(content, {.context = 8, .seed = 3});
  const TextData other(content, {.context = 8, .seed = 4});
  const Batch late = again.train_batch(900, 16);  // without the 900 before it
  CHECK(list(text.train_batch(900, 16).inputs) == list(late.inputs));
  CHECK(list(text.train_batch(901, 16).inputs) != list(late.inputs));
  CHECK(list(other.train_batch(900, 16).inputs) != list(late.inputs));
  const std::vector<index_t> all = list(late.inputs);
  CHECK(list(text.train_batch(900, 4).inputs) == std::vector<index_t>(all.begin(), all.begin() + 4 * 8));
}

TEST_CASE("validation windows cover the split in order, each target once") {
  const TextData text(counting(1000), {.context = 8});
  CHECK(text.validation_windows() == 12);  // 99 targets: 12 windows and a rest of 3
  const std::vector<Batch> batches = text.validation_batches(5, 100);
  REQUIRE(batches.size() == 3);
  index_t expected = 900;
  for (const Batch& batch : batches) {
    CHECK(batch.inputs.shape(0) == (&batch == &batches.back() ? 2 : 5));
    CHECK(batch.inputs.shape(1) == 8);
    for (index_t id : batch.inputs) REQUIRE(id == expected++);
    const std::vector<index_t> inputs = list(batch.inputs), targets = list(batch.targets);
    for (std::size_t i = 0; i < inputs.size(); ++i) REQUIRE(targets[i] == inputs[i] + 1);
  }
  CHECK(expected == 900 + 12 * 8);

  const std::vector<Batch> few = text.validation_batches(5, 7);
  REQUIRE(few.size() == 2);
  CHECK(list(few[0].inputs) == list(batches[0].inputs));
  CHECK(few[1].inputs.shape(0) == 2);
}

TEST_CASE("streams read the split in equal runs, each batch where the last one ended") {
  const TextData text(counting(1000), {.context = 8});  // 900 and 100
  CHECK(text.train_stream_windows(5) == 22);            // runs of 179 targets: 22 windows and a rest of 3
  std::vector<index_t> next = {0, 179, 358, 537, 716};
  for (index_t step = 0; step < 22; ++step) {
    const Batch batch = text.train_stream(step, 5);
    REQUIRE(batch.inputs.shape() == Shape{5, 8});
    for (std::size_t b = 0; b < 5; ++b) {
      for (std::size_t t = 0; t < 8; ++t) {
        REQUIRE(batch.inputs(b, t) == next[b]++);
        REQUIRE(batch.targets(b, t) == next[b]);
      }
    }
  }
  CHECK(list(text.train_stream(22, 5).inputs) == list(text.train_stream(0, 5).inputs));
  CHECK(text.train_stream(21, 5).targets(4, 7) < 900);

  const std::vector<Batch> validation = text.validation_streams(3, 100);
  REQUIRE(validation.size() == 4);  // runs of 33 targets
  CHECK(list(validation[1].inputs) == [] {
    std::vector<index_t> wanted;
    for (index_t start : {908, 941, 974})
      for (index_t t = 0; t < 8; ++t) wanted.push_back(start + t);
    return wanted;
  }());
  CHECK(text.validation_streams(3, 2).size() == 2);
}

TEST_CASE("the shortest text gives one window of each split, one symbol less is refused") {
  const TextData text(counting(50), {.context = 4});  // 45 and 5
  const Batch validation = text.validation_batches(1, 1).at(0);
  CHECK(list(validation.inputs) == std::vector<index_t>{45, 46, 47, 48});
  CHECK(list(validation.targets) == std::vector<index_t>{46, 47, 48, 49});
  check_throws<ValueError>([] { TextData(counting(40), {.context = 4}); },
                           "expected more symbols for training and for validation than the context of 4, got 36 and 4");
}

TEST_CASE("a text of one symbol, and one exactly as long as the context, are refused") {
  for (const Symbols symbols : {Symbols::characters, Symbols::bytes}) {
    check_throws<ValueError>([&] { TextData("x", {.context = 1, .symbols = symbols}); }, "expected more symbols");
    check_throws<ValueError>([&] { TextData(std::string(64, 'x'), {.context = 64, .symbols = symbols}); },
                             "than the context of 64, got 57 and 7");
  }
}

TEST_CASE("bytes round-trip through windows that cut characters") {
  const std::string content = counting(100);  // 300 bytes
  const TextData text(content, {.context = 4, .symbols = Symbols::bytes});
  CHECK(text.vocab() == 256);
  CHECK(text.train_size() == 270);
  std::string decoded;
  for (const Batch& batch : text.validation_batches(2, 100)) decoded += text.vocabulary().decode(batch.inputs);
  CHECK(decoded == content.substr(270, 28));
  const Batch batch = text.train_batch(0, 8);
  for (std::size_t b = 0; b < 8; ++b) {
    const index_t* row = batch.inputs.data() + b * 4;
    CHECK(content.substr(0, 270).find(text.vocabulary().decode(std::span(row, 4))) != std::string::npos);
  }
}

TEST_CASE("arguments outside their domain are refused") {
  const TextData text(counting(100), {.context = 4});
  check_throws<ValueError>([&] { text.train_batch(-1, 4); }, "expected step of at least 0, got -1");
  check_throws<ValueError>([&] { text.train_batch(0, 0); }, "[train_batch] expected batch of at least 1, got 0");
  check_throws<ValueError>([&] { text.validation_batches(0, 1); }, "expected batch of at least 1, got");
  check_throws<ValueError>([&] { text.validation_batches(1, 0); }, "expected windows of at least 1, got");
  check_throws<ValueError>([&] { text.train_stream(-1, 4); }, "[train_stream] expected step of at least 0, got -1");
  check_throws<ValueError>([&] { text.train_stream(0, 0); }, "expected streams of at least 1, got 0");
  check_throws<ValueError>([&] { text.train_stream(0, 23); },
                           "[text] expected more symbols than the context of 4 for each of 23 streams, got 90 in all");
  check_throws<ValueError>([&] { text.validation_streams(3, 1); }, "for each of 3 streams, got 10 in all");
  check_throws<ValueError>([&] { text.validation_streams(1, 0); }, "expected windows of at least 1, got");
  check_throws<ValueError>([] { TextData("abc", {.context = 0}); }, "expected context of at least 1, got 0");
  check_throws<ValueError>([] { TextData(""); }, "the text is empty");
}

TEST_CASE("a text file is loaded as it is") {
  const TemporaryDirectory directory;
  const std::string content = "one\r\ntwo\xC3\xA9\n" + counting(50);
  const TextData text = load_text(directory.write("text.txt", content), {.context = 4});
  CHECK(text.vocabulary().symbols() == Vocabulary::characters(content).symbols());
  CHECK(text.train_size() + text.validation_size() == 60);
}

TEST_CASE("a text file that cannot serve is refused with its name") {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::string& path, const std::string& reason) {
    check_throws<FileError>([&] { load_text(path, {.context = 4}); }, reason);
    check_throws<FileError>([&] { load_text(path, {.context = 4}); }, path);
  };
  refused(directory.write("empty.txt", ""), "the text is empty");
  refused(directory.write("short.txt", "abcd"),
          "expected more symbols for training and for validation than the context of 4, got 3 and 1");
  std::string latin1(200, 'a');
  latin1[100] = '\xE9';
  refused(directory.write("latin1.txt", latin1), "not valid UTF-8 at byte 100 (it can be read as bytes)");
  refused(directory.path(), "is a directory");
  refused(directory.path() + "/missing.txt", "no such file");
  CHECK(load_text(directory.path() + "/latin1.txt", {.context = 4, .symbols = Symbols::bytes}).vocab() == 256);
  check_throws<ValueError>([&] { load_text(directory.path() + "/empty.txt", {.context = 0}); }, "context");
}

TEST_CASE("a text is read whole, every symbol but the first once as a target") {
  for (const index_t size : {2, 5, 17, 24, 25, 26, 40})
    for (const index_t context : {1, 4, 100})
      for (const index_t batch : {1, 3}) {
        INFO(size, " symbols in windows of ", context, ", ", batch, " in a batch");
        IndexArray ids = empty_array<IndexArray>({size});
        for (index_t i = 0; i < size; ++i) ids(i) = 100 + i;
        index_t next = 101;
        for (const Batch& part : reading_batches(ids, context, batch)) {
          CHECK(part.inputs.shape()[0] <= batch);
          CHECK(part.inputs.shape()[1] <= context);
          for (std::size_t i = 0; i < part.targets.size(); ++i) {
            CHECK(part.inputs.data()[i] == next - 1);
            CHECK(part.targets.data()[i] == next++);
          }
        }
        CHECK(next == 100 + size);
      }
  check_throws<ValueError>([] { reading_batches(indices({1}, {3}), 4); }, "expected at least 2 symbols, got");
  check_throws<ValueError>([] { reading_batches(indices({2}, {3, 4}), 0); }, "expected context of at least 1, got");
  check_throws<ValueError>([] { reading_batches(indices({2}, {3, 4}), 1, 0); }, "expected batch of at least 1, got");
}

TEST_CASE("texts are told apart by their fingerprints") {
  const std::string text(100, 'x');
  CHECK(TextData(text, {.context = 4}).fingerprint() == TextData(text, {.context = 8}).fingerprint());
  CHECK(TextData(text, {.context = 4}).fingerprint() != TextData(text + "x", {.context = 4}).fingerprint());
  CHECK(TextData(text, {.context = 4}).fingerprint() != TextData("y" + text.substr(1), {.context = 4}).fingerprint());
}
