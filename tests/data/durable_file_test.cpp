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
