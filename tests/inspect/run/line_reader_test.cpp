// Whole lines of growing, cut and damaged files.
#include <xtape/inspect/run/line_reader.hpp>
#include <xtape/inspect/run/reader.hpp>

#include "inspect/made_runs.hpp"
#include "support.hpp"

#include <sys/resource.h>

#include <filesystem>

using namespace xtape;
using namespace xtape::test;

namespace {

std::vector<std::string> lines_read(LineReader& reader) {
  std::vector<std::string> out;
  reader.read([&](const LineReader::Line& line) {
    out.push_back(std::to_string(line.number) + (line.cut ? "! " : " ") + std::string(line.text));
  });
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a line counts once, when its line end is written, wherever the file was cut before") {
  const TemporaryDirectory work;
  const std::string begin = "{\"step\":0}\n{\"step\":1}\n", line = "{\"name\":\"é\",\"x\":2.5}\n";
  for (std::size_t cut = 0; cut <= line.size(); ++cut) {
    const std::string path = work.write("file", begin + line.substr(0, cut));
    LineReader reader(path);
    Lines got = lines_read(reader);
    CHECK(got.size() == (cut == line.size() ? 3 : 2));
    CHECK(reader.offset() == begin.size() + (cut == line.size() ? line.size() : 0));
    CHECK(reader.half() == (cut > 0 && cut < line.size()));
    CHECK(lines_read(reader).empty());
    work.write("file", begin + line + "{\"step\":3}\n");
    CHECK(!reader.restart_if_rewritten());
    for (const std::string& more : lines_read(reader)) got.push_back(more);
    CHECK(got == Lines{"1 {\"step\":0}", "2 {\"step\":1}", "3 {\"name\":\"é\",\"x\":2.5}", "4 {\"step\":3}"});
    CHECK(!reader.half());
  }
}

TEST_CASE("reading goes on from an offset, leaves out empty lines, and keeps long ones whole") {
  const TemporaryDirectory work;
  const std::string longest(3'000'000, 'x');
  const std::string path = work.write("file", "a\r\n\n \r\n" + longest + "\nb\n");
  LineReader reader(path);
  CHECK(lines_read(reader) == Lines{"1 a\r", "4 " + longest, "5 b"});
  LineReader later(path, 7);
  CHECK(lines_read(later) == Lines{"1 " + longest, "2 b"});
  CHECK(later.offset() == reader.offset());
  LineReader none(work.path() + "/none");
  CHECK(lines_read(none).empty());
  CHECK(none.missing());
  CHECK(!none.restart_if_rewritten());
}

TEST_CASE("a file that was cut or written anew is read from its beginning") {
  const TemporaryDirectory work;
  const std::string path = work.write("file", "a1\nb1\nc1\nhalf");
  LineReader reader(path);
  CHECK(lines_read(reader).size() == 3);
  for (const char* content : {"a1\nb1\nc2\nlonger than before\n", "a1\n"}) {  // the third line differs; it is shorter
    work.write("file", content);
    CHECK(reader.restart_if_rewritten());
    CHECK(lines_read(reader).front() == "1 a1");
  }
  CHECK(!reader.restart_if_rewritten());
}

TEST_CASE("zero bytes end a line and are counted, wherever they are") {
  const TemporaryDirectory work;
  const std::string hole(5000, '\0');
  struct Row {
    std::string content;
    Lines lines;
    std::uint64_t first_byte;
  };
  for (const Row& row : std::vector<Row>{{"a\nb\n" + hole + "c\nd\n", {"1 a", "2 b", "3 c", "4 d"}, 4},
                                         {hole + "a\nb\n", {"1 a", "2 b"}, 0},
                                         {"a\nhal" + hole + "c\n", {"1 a", "2! hal", "2 c"}, 5},
                                         {"a\n" + hole + "\nb\n", {"1 a", "3 b"}, 2},
                                         {"a\n" + hole, {"1 a"}, 2}}) {
    LineReader reader(work.write("file", row.content));
    CHECK(lines_read(reader) == row.lines);
    CHECK(reader.holes().count == 1);
    CHECK(reader.holes().bytes == hole.size());
    CHECK(reader.holes().first_byte == row.first_byte);
    CHECK(!reader.half());
  }
  LineReader two(work.write("file", "a" + hole + "b" + hole + "c\n"));
  CHECK(lines_read(two) == Lines{"1! a", "1! b", "1 c"});
  CHECK(two.holes().count == 2);
}

TEST_CASE("a run with a hole of 200 MB is read on both of its sides, with one warning and little memory") {
  const TemporaryDirectory work;
  const std::string directory = MadeRun{.steps = 7}.write(work, "run");
  const std::string text = content_of(directory + "/metrics.jsonl");
  std::size_t middle = 0;
  for (int line = 0; line < 5; ++line) middle = text.find('\n', middle) + 1;
  constexpr std::uint64_t kHole = 200'000'000;
  work.write("run/metrics.jsonl", text.substr(0, middle));
  std::filesystem::resize_file(directory + "/metrics.jsonl", middle + kHole);
  std::ofstream(directory + "/metrics.jsonl", std::ios::binary | std::ios::app) << text.substr(middle);
  const auto most_bytes = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return 1024 * static_cast<std::int64_t>(used.ru_maxrss);
  };
  const std::int64_t before = most_bytes();
  const RunData run = read_run(directory);
  CHECK(most_bytes() - before < 50'000'000);
  CHECK(run.steps.size() == 7);
  REQUIRE(run.warnings.size() == 1);
  CHECK(run.warnings[0] == "metrics.jsonl has 200000000 zero bytes at byte " + std::to_string(middle) +
                               ", line 6, as a power cut leaves them; what was there is lost, what follows is read");
}

TEST_CASE("behind a record that was not written to its end the next one of the line is read") {
  const TemporaryDirectory work;
  const std::string directory = MadeRun{.steps = 6}.write(work, "run");
  std::string text = content_of(directory + "/metrics.jsonl");
  const std::size_t third = text.find('\n', text.find('\n') + 1) + 1, end = text.find('\n', third);
  text.erase(end - 20, 21);  // the end of the third line
  work.write("run/metrics.jsonl", text);
  const RunData run = read_run(directory);
  CHECK(run.steps.size() == 5);
  CHECK(run.steps[2].step == 30);
  CHECK(run.warnings == std::vector<std::string>{"metrics.jsonl: cannot read line 3"});
}
