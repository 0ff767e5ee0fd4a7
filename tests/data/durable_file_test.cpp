#include <xtape/data/durable_file.hpp>

#include "child_process.hpp"
#include "inspect/log/file_size_limit.hpp"
#include "support.hpp"

#include <filesystem>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("a whole file is there complete or not at all") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  write_file(path, "one");
  write_file(path, "two");
  CHECK(content_of(path) == "two");
  {
    const FileSizeLimit limit(2);
    check_throws<FileError>([&] { write_file(path, "three"); }, "[write_file] " + path + ": File too large");
  }
  CHECK(content_of(path) == "two");
  CHECK(std::distance(std::filesystem::directory_iterator(work.path()), {}) == 1);
  check_throws<FileError>([&] { write_file(work.path() + "/none/file", ""); }, "No such file or directory");
}

TEST_CASE("two writers of one file: every save and every load succeeds, and other files stay") {
  const TemporaryDirectory work;
  const std::string path = work.path() + "/file";
  const std::string content[] = {std::string(200'000, 'a'), std::string(200'000, 'b')};
  work.write("file.new", "mine");
  write_file(path, content[0]);
  std::vector<pid_t> writers;
  for (const std::string& mine : content) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int failed = 0;
      for (int i = 0; i < 60; ++i) try {
          write_file(path, mine);
        } catch (const Error&) {
          ++failed;
        }
      _exit(failed);
    }
    writers.push_back(child);
  }
  int wrong = 0, failed = 0;
  while (!writers.empty()) {
    const std::string read = content_of(path);
    wrong += read != content[0] && read != content[1];
    int status = 0;
    if (const pid_t ended = waitpid(-1, &status, WNOHANG); ended > 0) {
      failed += WEXITSTATUS(status);
      std::erase(writers, ended);
    }
  }
  CHECK(wrong == 0);
  CHECK(failed == 0);
  CHECK(content_of(work.path() + "/file.new") == "mine");
  CHECK(std::distance(std::filesystem::directory_iterator(work.path()), {}) == 2);
}

TEST_CASE("a temporary file that a crash left behind is not taken, and has a name of its own") {
  const TemporaryDirectory work;
  for (int i = 0; i < 2000; ++i) work.write("file.new-" + std::to_string(getpid()) + "-" + std::to_string(i), "left");
  write_file(work.path() + "/file", "content");
  CHECK(content_of(work.path() + "/file") == "content");
  CHECK(std::distance(std::filesystem::directory_iterator(work.path()), {}) == 2001);
  CHECK(is_temporary_name("run.json.new-12-3", "run.json"));
  for (const char* name : {"run.json.new", "run.json.new-", "run.json.new-12", "run.json.new-12-", "run.json.new-a-3",
                           "run.json.new-12-3x", "other.new-12-3", "run.json"})
    CHECK_MESSAGE(!is_temporary_name(name, "run.json"), name);
}

TEST_CASE("a file is written through symbolic links and keeps its permissions; a device is no file to replace") {
  const TemporaryDirectory work;
  namespace fs = std::filesystem;
  fs::create_directory(work.path() + "/folder");
  fs::create_symlink("second", work.path() + "/first");
  fs::create_symlink(work.path() + "/folder/file", work.path() + "/second");
  write_file(work.path() + "/first", "one");
  write_file(work.path() + "/first", "two");
  CHECK(fs::is_symlink(work.path() + "/first"));
  CHECK(fs::is_symlink(work.path() + "/second"));
  CHECK(content_of(work.path() + "/folder/file") == "two");
  CHECK(std::distance(fs::directory_iterator(work.path() + "/folder"), {}) == 1);
  fs::permissions(work.path() + "/folder/file", fs::perms::owner_read | fs::perms::owner_write);
  write_file(work.path() + "/first", "three");
  CHECK(fs::status(work.path() + "/folder/file").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  fs::create_symlink("loop", work.path() + "/loop");
  check_throws<FileError>([&] { write_file(work.path() + "/loop", ""); }, "/loop: ");

  write_file("/dev/null", "gone");
  CHECK(fs::is_character_file("/dev/null"));
  if (fs::exists("/dev/full"))
    check_throws<FileError>([] { write_file("/dev/full", "x"); }, "/dev/full: No space left on device");
  check_throws<FileError>([&] { write_file(work.path(), "x"); }, "Is a directory");
}
