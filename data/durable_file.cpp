#include <xtape/core/error.hpp>
#include <xtape/data/durable_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace xtape {

namespace {

/// Flushes a directory, so that a renamed entry survives a crash. Returns 0 or errno.
int flush_directory(const std::string& path) {
  const int descriptor = ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return 0;                                               // not readable: nothing to flush it with
  const int error = ::fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;  // EINVAL: this file system needs no flush
  ::close(descriptor);
  return error;
}

}  // namespace

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
  if (const int unflushed = flush_directory(std::filesystem::path(path).parent_path())) fail(unflushed);
}

}  // namespace xtape
