#include <xtape/inspect/log/line_file.hpp>
#include <xtape/inspect/run/grad_norms_csv.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>

#include "child_process.hpp"
#include "file_size_limit.hpp"
#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("lines reach the file at once; where the disk refuses, it ends with a whole line") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  LineFile file(path);
  CHECK(file.append("one\n") == "");
  CHECK(content_of(path) == "one\n");
  check_throws<FileError>([&] { LineFile again(path); }, "File exists");
  {
    const FileSizeLimit limit(6);
    CHECK(file.append("two\n") == "File too large");
    CHECK(content_of(path) == "one\n");
  }
  CHECK(file.append("three\n") == "");
  CHECK(file.close() == "");
  CHECK(file.close() == "");
  CHECK(content_of(path) == "one\nthree\n");
}

TEST_CASE("the lines before a step are counted, half lines and damaged ones not") {
  const std::string lines = "{\"step\":0}\n{\"step\":4}\n{\"step\":9}\n";
  CHECK(size_before(0, lines, step_of_json_line) == 0);
  CHECK(size_before(4, lines, step_of_json_line) == 11);
  CHECK(size_before(5, lines, step_of_json_line) == 22);
  CHECK(size_before(10, lines, step_of_json_line) == 33);
  CHECK(size_before(10, lines.substr(0, 32), step_of_json_line) == 22);
  CHECK(size_before(10, "{\"step\":0}\nnothing\n{\"step\":9}\n", step_of_json_line) == 11);
  CHECK(size_before(10, "{\"step\":0}\n[3]\n", step_of_json_line) == 11);
  CHECK(size_before(10, "{\"step\":0}\n{\"step\":18446744073709551615}\n", step_of_json_line) == 11);
  CHECK(size_before(10, "{\"step\":0}\n{\"step\":0,\"kind\":\"finished\"}\n", step_of_json_line) == 11);
  std::string csv = kGradNormsHeader;
  csv += "0,a,b,,1\n4,a,b,,1\n4,c,d,,1\n";
  const std::size_t heading = std::string(kGradNormsHeader).size();
  CHECK(size_before(0, csv, step_of_csv_row) == heading);
  CHECK(size_before(4, csv, step_of_csv_row) == heading + 9);
  CHECK(size_before(5, csv, step_of_csv_row) == csv.size());
  CHECK(size_before(5, csv.substr(0, csv.size() - 1), step_of_csv_row) == csv.size() - 9);
}

TEST_CASE("a file of lines goes on where it is cut") {
  const TemporaryDirectory work;
  const std::string path = work.write("file", "one\ntwo\nthree\n");
  LineFile file(path, LineFile::Open::go_on);
  CHECK(!file.empty());
  CHECK(file.append("four\n") == "");
  file.cut(4);
  CHECK(file.append("five\n") == "");
  CHECK(file.flush() == "");
  CHECK(content_of(path) == "one\nfive\n");
  file.cut(0);
  CHECK(file.empty());
  LineFile fresh(work.path() + "/new", LineFile::Open::go_on);
  CHECK(fresh.empty());
}
