#include <xtape/core/error.hpp>
#include <xtape/data/files.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace xtape {

namespace fs = std::filesystem;

namespace {

struct Descriptor {
  int number;
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

std::vector<fs::path> places_of(const std::string& path) {
  std::vector<fs::path> places = {path};
  if (fs::path(path).is_absolute()) return places;
  const char* shared = std::getenv("XTAPE_DATA");
  if (shared != nullptr && *shared != '\0') places.push_back(fs::path(shared) / path);
  places.push_back(fs::path("datasets") / path);
  return places;
}

}  // namespace

std::string find_data(const std::string& path) {
  if (path.empty()) throw FileError("find_data", "the path is empty");
  std::string searched;
  for (const fs::path& place : places_of(path)) {
    std::error_code error;
    const fs::file_status status = fs::status(place, error);
    if (status.type() == fs::file_type::none) throw FileError("find_data", place.string() + ": " + error.message());
    if (fs::exists(status)) return place.string();
    searched += (searched.empty() ? "" : ", ") + place.string();
  }
  throw FileError("find_data", "no such file: " + searched);
}

int open_file(const std::string& path, int flags) noexcept {
  const int opened = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (opened < 0 || opened > STDERR_FILENO) return opened;
  const int moved = ::fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
  ::close(opened);
  errno = error;
  return moved;
}

std::string read_file(const std::string& path) {
  const auto fail = [&path](const std::string& reason) { throw FileError("read_file", path + reason); };
  std::error_code error;
  const fs::file_status kind = fs::status(path, error);  // before opening, which would block on a pipe
  if (!fs::exists(kind)) fail(": " + error.message());
  if (fs::is_directory(kind)) fail(" is a directory");
  if (!fs::is_regular_file(kind)) fail(" is not a regular file");
  const Descriptor file(open_file(path, O_RDONLY));
  struct stat before{};
  if (file.number < 0 || ::fstat(file.number, &before) != 0)
    fail(std::string(" cannot be opened for reading: ") + std::strerror(errno));
  std::string content(static_cast<std::size_t>(before.st_size) + 1, '\0');  // one byte more, to detect growth
  std::size_t got = 0;
  while (got < content.size()) {
    const ssize_t count = ::read(file.number, content.data() + got, content.size() - got);
    if (count < 0 && errno != EINTR) fail(std::string(" cannot be read: ") + std::strerror(errno));
    if (count == 0) break;
    if (count > 0) got += static_cast<std::size_t>(count);
  }
  struct stat after{};
  const auto written_at = [](const struct stat& s) { return std::pair(s.st_mtim.tv_sec, s.st_mtim.tv_nsec); };
  if (got != content.size() - 1 || ::fstat(file.number, &after) != 0 || after.st_size != before.st_size ||
      written_at(after) != written_at(before))
    fail(" changed while it was read");
  content.pop_back();
  return content;
}

std::uint32_t crc32(std::string_view bytes) noexcept {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace xtape
