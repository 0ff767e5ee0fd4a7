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

std::string read_file(const std::string& path) {
  const auto fail = [&path](const std::string& reason) { throw FileError("read_file", path + reason); };
  std::error_code error;
  const fs::file_status kind = fs::status(path, error);  // before opening: that would wait for a pipe's other end
  if (!fs::exists(kind)) fail(": " + error.message());
  if (fs::is_directory(kind)) fail(" is a directory");
  if (!fs::is_regular_file(kind)) fail(" is not a regular file");
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat before {};
  if (file.number < 0 || ::fstat(file.number, &before) != 0)
    fail(std::string(" cannot be opened for reading: ") + std::strerror(errno));
  std::string content(static_cast<std::size_t>(before.st_size) + 1, '\0');  // one more than there should be
  std::size_t got = 0;
  while (got < content.size()) {
    const ssize_t count = ::read(file.number, content.data() + got, content.size() - got);
    if (count < 0 && errno != EINTR) fail(std::string(" cannot be read: ") + std::strerror(errno));
    if (count == 0) break;
    if (count > 0) got += static_cast<std::size_t>(count);
  }
  struct stat after {};
  const auto written_at = [](const struct stat& s) { return std::pair(s.st_mtim.tv_sec, s.st_mtim.tv_nsec); };
  if (got != content.size() - 1 || ::fstat(file.number, &after) != 0 || after.st_size != before.st_size ||
      written_at(after) != written_at(before))
    fail(" changed while it was read");
  content.pop_back();
  return content;
}

int write_all(int descriptor, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void write_file(const std::string& path, std::string_view content) {
  const auto fail = [&path](int error) { throw FileError("write_file", path + ": " + std::strerror(error)); };
  const std::string temporary = path + ".new";
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(errno);
  int error = write_all(descriptor, content);
  if (!error && ::fsync(descriptor) != 0) error = errno;
  if (::close(descriptor) != 0 && !error) error = errno;
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error) {
    ::unlink(temporary.c_str());
    fail(error);
  }
  const std::string parent = fs::path(path).parent_path();
  const Descriptor directory(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.number >= 0 && ::fsync(directory.number) != 0 && errno != EINVAL) fail(errno);  // EINVAL: it needs none
}

std::uint32_t crc32(std::string_view bytes) noexcept {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace xtape
