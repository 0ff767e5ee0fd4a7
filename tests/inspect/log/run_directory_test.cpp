#include <xtape/inspect/log/run_directory.hpp>
#include <xtape/inspect/run/grad_norms_csv.hpp>
#include <xtape/inspect/run/metrics_jsonl.hpp>

#include "child_process.hpp"
#include "file_size_limit.hpp"
#include "support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;
namespace fs = std::filesystem;

namespace {

class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::string& path) { fs::current_path(path); }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;
  ~WorkingDirectory() { fs::current_path(before_); }

 private:
  fs::path before_ = fs::current_path();
};

}  // namespace

TEST_CASE("the run directory is the one given, if it is new or empty") {
  const TemporaryDirectory work;
  const std::string fresh = work.path() + "/a/b/c";
  CHECK(make_run_directory(fresh, "program") == fresh);
  CHECK(fs::is_directory(fresh));
  CHECK(make_run_directory(fresh, "program") == fresh);
  work.write("a/b/c/file", "");
  check_throws<FileError>([&] { make_run_directory(fresh, "program"); },
                          "[run_log] " + fresh + ": the directory is not empty");
  check_throws<FileError>([&] { make_run_directory(fresh + "/file", "program"); },
                          fresh + "/file: it is not a directory");
  check_throws<FileError>([&] { make_run_directory(fresh + "/file/x", "program"); },
                          "the directory cannot be created: Not a directory");
  check_throws<FileError>([&] { make_run_directory("/proc/xtape", "program"); }, "the directory cannot be created");
}

TEST_CASE("without a name the run directory is named by program and time, each run its own") {
  const TemporaryDirectory work;
  const WorkingDirectory inside(work.path());
  const std::string first = make_run_directory("", "program"), second = make_run_directory("", "program");
  CHECK(first != second);
  for (const std::string& name : {first, second}) {
    CHECK(fs::is_directory(work.path() + "/" + name));
    CHECK(name.starts_with("runs/program-20"));
    CHECK(name.size() >= std::string("runs/program-20260102-030405").size());
  }
}

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

TEST_CASE("a directory is locked for others while the lock lives") {
  const TemporaryDirectory work;
  {
    const DirectoryLock lock(work.path());
    check_throws<FileError>(
        [&] { DirectoryLock again(work.path()); },
        work.path() + ": the directory is in use by another run (process " + std::to_string(getpid()) + ")");
  }
  const DirectoryLock again(work.path());
  CHECK(make_run_directory(work.path(), "program") == work.path());  // a lock alone is no run
  work.write("run.json.new", "ha");
  CHECK(make_run_directory(work.path(), "program") == work.path());
  check_throws<FileError>([&] { DirectoryLock none(work.path() + "/none"); }, "none/.lock: No such file or directory");
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
