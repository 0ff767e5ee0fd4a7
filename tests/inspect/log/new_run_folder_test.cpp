#include <xtape/inspect/log/new_run_folder.hpp>

#include "child_process.hpp"
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

TEST_CASE("the run folder is the one given, if it is new or empty") {
  const TemporaryDirectory work;
  const std::string fresh = work.path() + "/a/b/c";
  CHECK(make_run_folder(fresh, "program") == fresh);
  CHECK(fs::is_directory(fresh));
  CHECK(make_run_folder(fresh, "program") == fresh);
  work.write("a/b/c/file", "");
  check_throws<FileError>([&] { make_run_folder(fresh, "program"); },
                          "[run_log] " + fresh + ": the directory is not empty");
  check_throws<FileError>([&] { make_run_folder(fresh + "/file", "program"); }, fresh + "/file: it is not a directory");
  check_throws<FileError>([&] { make_run_folder(fresh + "/file/x", "program"); },
                          "the directory cannot be created: Not a directory");
  check_throws<FileError>([&] { make_run_folder("/proc/xtape", "program"); }, "the directory cannot be created");
}

TEST_CASE("without a name the run folder is named by program and time, each run its own") {
  const TemporaryDirectory work;
  const WorkingDirectory inside(work.path());
  const std::string first = make_run_folder("", "program"), second = make_run_folder("", "program");
  CHECK(first != second);
  for (const std::string& name : {first, second}) {
    CHECK(fs::is_directory(work.path() + "/" + name));
    CHECK(name.starts_with("runs/program-20"));
    CHECK(name.size() >= std::string("runs/program-20260102-030405").size());
  }
}

TEST_CASE("a directory is locked for others while the lock lives") {
  const TemporaryDirectory work;
  {
    const FolderLock lock(work.path());
    check_throws<FileError>(
        [&] { FolderLock again(work.path()); },
        work.path() + ": the directory is in use by another run (process " + std::to_string(getpid()) + ")");
  }
  const FolderLock again(work.path());
  CHECK(make_run_folder(work.path(), "program") == work.path());  // a lock alone is no run
  work.write("run.json.new-12-1", "ha");
  CHECK(make_run_folder(work.path(), "program") == work.path());
  check_throws<FileError>([&] { FolderLock none(work.path() + "/none"); }, "none/.lock: No such file or directory");
}

TEST_CASE("what a killed process left unfinished is removed from a run folder, and nothing else") {
  const TemporaryDirectory work;
  const std::vector<std::string> ours = {"run.json.new-12-1", "weights.safetensors.new-7-2",
                                         "checkpoints/step_5.safetensors.new-12-30",
                                         "checkpoints/best.safetensors.new-12-31", "flight/step_3.json.new-12-32"};
  const std::vector<std::string> others = {"run.json",
                                           "notes.new-1-1",
                                           "report.html.new-12-4",
                                           "run.json.new",
                                           "checkpoints/step_5.safetensors",
                                           "checkpoints/step_5.safetensors.new"};
  for (const auto& names : {ours, others})
    for (const std::string& name : names) work.write(name, "x");
  remove_leftovers(work.path());
  for (const std::string& name : ours) CHECK_MESSAGE(!fs::exists(work.path() + "/" + name), name);
  for (const std::string& name : others) CHECK_MESSAGE(fs::exists(work.path() + "/" + name), name);
}
