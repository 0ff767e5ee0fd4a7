#include <xtape/core/error.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/files.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace xtape {

namespace {

/// Flushes a directory, so that a renamed entry survives a crash. Returns 0 or errno.
int flush_directory(const std::string& path) {
  const int descriptor = open_file(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return 0;                                               // not readable: nothing to flush it with
  const int error = ::fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;  // EINVAL: this file system needs no flush
  ::close(descriptor);
  return error;
}

constexpr std::string_view kTemporary = ".new-";

/// Creates a file of a new name beside `path`. Returns its descriptor, or -1 with errno.
int open_temporary(const std::string& path, std::string& name) {
  static std::atomic<unsigned> count{0};
  int descriptor = -1;
  do {  // a name may be left from a crash, or taken by a process of that number on another machine
    name = path + std::string(kTemporary) + std::to_string(::getpid()) + "-" + std::to_string(++count);
    descriptor = open_file(name, O_WRONLY | O_CREAT | O_EXCL);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

/// The path that symbolic links lead to; there may be no such file.
std::string followed(std::string path) {
  std::error_code error;
  for (int links = 0; links < 40; ++links) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) return path;
    path = std::filesystem::path(path).parent_path() / target;
  }
  return path;  // a loop, which the system refuses
}

int closed(int descriptor, int error) { return ::close(descriptor) != 0 && !error ? errno : error; }

/// Writes what is no regular file, such as /dev/stdout. Returns 0 or errno.
int write_in_place(const std::string& path, std::string_view content) {
  const int descriptor = open_file(path, O_WRONLY);
  return descriptor < 0 ? errno : closed(descriptor, write_all(descriptor, content));
}

/// Writes a temporary file and renames it. Returns 0 or errno.
int replace_file(const std::string& path, std::string_view content, const struct stat* before) {
  std::string temporary;
  const int descriptor = open_temporary(path, temporary);
  if (descriptor < 0) return errno;
  int error = before && ::fchmod(descriptor, before->st_mode & 07777) != 0 ? errno : 0;
  if (!error) error = write_all(descriptor, content);
  if (!error && ::fsync(descriptor) != 0) error = errno;
  error = closed(descriptor, error);
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error) ::unlink(temporary.c_str());
  return error;
}

/// Writes a file, or what else the path leads to. Returns 0 or errno.
int write_any(const std::string& path, std::string_view content) {
  struct stat before{};
  const bool exists = ::stat(path.c_str(), &before) == 0;
  if (!exists && errno != ENOENT) return errno;  // a loop of links, for example
  if (exists && !S_ISREG(before.st_mode) && !S_ISDIR(before.st_mode)) return write_in_place(path, content);
  const std::string target = followed(path);
  const int error = replace_file(target, content, exists ? &before : nullptr);
  return error ? error : flush_directory(std::filesystem::path(target).parent_path());
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
  if (const int error = write_any(path, content)) throw FileError("write_file", path + ": " + std::strerror(error));
}

bool is_temporary_name(std::string_view name, std::string_view final_name) {
  if (!name.starts_with(final_name) || !name.substr(final_name.size()).starts_with(kTemporary)) return false;
  const std::string_view rest = name.substr(final_name.size() + kTemporary.size());
  const std::size_t dash = rest.find('-');
  const auto digits = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return dash != rest.npos && digits(rest.substr(0, dash)) && digits(rest.substr(dash + 1));
}

}  // namespace xtape
