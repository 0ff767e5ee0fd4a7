#include <xtape/data/files.hpp>

#include "child_process.hpp"
#include "core/forked.hpp"
#include "support.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

using namespace xtape;
using namespace xtape::test;

namespace {

// Puts the working directory and XTAPE_DATA back as they were.
class Surroundings {
 public:
  Surroundings(const std::string& directory, const std::string& data) {
    if (const char* value = std::getenv("XTAPE_DATA")) data_ = value;
    std::filesystem::current_path(directory);
    setenv("XTAPE_DATA", data.c_str(), 1);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;
  ~Surroundings() {
    std::filesystem::current_path(directory_);
    setenv("XTAPE_DATA", data_.c_str(), 1);
  }

 private:
  std::filesystem::path directory_ = std::filesystem::current_path();
  std::string data_;
};

}  // namespace

TEST_CASE("data is looked for as given, then in XTAPE_DATA, then in datasets") {
  const TemporaryDirectory work, data;
  const Surroundings surroundings(work.path(), data.path());
  work.write("datasets/all.txt", "datasets");
  work.write("datasets/two.txt", "datasets");
  work.write("datasets/one.txt", "datasets");
  data.write("all.txt", "XTAPE_DATA");
  data.write("two.txt", "XTAPE_DATA");
  work.write("all.txt", "as given");
  CHECK(read_file(find_data("all.txt")) == "as given");
  CHECK(read_file(find_data("two.txt")) == "XTAPE_DATA");
  CHECK(read_file(find_data("one.txt")) == "datasets");
  CHECK(read_file(find_data(work.path() + "/datasets/all.txt")) == "datasets");
  check_throws<FileError>([] { find_data("none.txt"); },
                          "[find_data] no such file: none.txt, " + data.path() + "/none.txt, datasets/none.txt");
  check_throws<FileError>([] { find_data("/none.txt"); }, "no such file: /none.txt");
  check_throws<FileError>([] { find_data(""); }, "the path is empty");
  setenv("XTAPE_DATA", "", 1);
  CHECK(read_file(find_data("two.txt")) == "datasets");
}

TEST_CASE("a path that the system refuses is named with the reason") {
  check_throws<FileError>([] { find_data(std::string(5000, 'x')); }, "File name too long");
  check_throws<FileError>([] { read_file("/nowhere/at/all"); }, "/nowhere/at/all");
}

TEST_CASE("files are read byte for byte") {
  const TemporaryDirectory directory;
  const std::string content("a\0\r\n\xFF", 5);
  CHECK(read_file(directory.write("bytes", content)) == content);
  CHECK(read_file(directory.write("nothing", "")).empty());
}

TEST_CASE("what is not a readable file is refused") {
  const TemporaryDirectory directory;
  check_throws<FileError>([&] { read_file(directory.path()); }, directory.path() + " is a directory");
  const std::string pipe = directory.path() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  check_throws<FileError>([&] { read_file(pipe); }, "pipe is not a regular file");
}

TEST_CASE("a file without read permission is refused" * doctest::skip(geteuid() == 0)) {  // root may read everything
  const TemporaryDirectory directory;
  const std::string locked = directory.write("locked", "x");
  std::filesystem::permissions(locked, std::filesystem::perms::none);
  check_throws<FileError>([&] { read_file(locked); }, "locked cannot be opened for reading");
}

TEST_CASE("a file that changes while it is read is refused") {
  const TemporaryDirectory directory;
  std::string text;
  text.resize(50'000'000, 'x');
  const std::string path = directory.write("growing", text);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (std::ofstream file(path, std::ios::app); !done;) file << 'y' << std::flush;
  });
  check_throws<FileError>([&] { read_file(path); }, "growing changed while it was read");
  done = true;
  writer.join();
}

TEST_CASE("the checksum is that of zip") { CHECK(crc32("123456789") == 0xCBF43926); }

TEST_CASE("a file never gets the number of a closed standard stream") {
  const TemporaryDirectory work;
  const std::string file = work.write("file", "content");
  const int code = in_child([&] {
    for (const int stream : {0, 1, 2}) close(stream);
    const int opened = open_file(file, O_RDONLY), created = open_file(file + "2", O_WRONLY | O_CREAT);
    const bool inherited = (fcntl(opened, F_GETFD) & FD_CLOEXEC) == 0 || (fcntl(created, F_GETFD) & FD_CLOEXEC) == 0;
    bool closed = true;
    for (const int stream : {0, 1, 2}) closed = closed && fcntl(stream, F_GETFD) < 0;
    return opened > 2 && created > 2 && opened != created && closed && !inherited && read_file(file) == "content" &&
           open_file(file + "/none", O_RDONLY) == -1 && errno == ENOTDIR;
  });
  CHECK(code == 0);
}
