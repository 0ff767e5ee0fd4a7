#include <xtape/core/error.hpp>
#include <xtape/data/files.hpp>
#include <xtape/inspect/base/machine.hpp>
#include <xtape/inspect/base/run_files.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace xtape {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw FileError("run_log", path + ": " + reason);
}

/// Makes a directory that was not there before; false if it was.
bool make_directory(const fs::path& path) {
  std::error_code error;
  const bool made = fs::create_directories(path, error);
  if (error) fail(path.string(), "the directory cannot be made: " + error.message());
  return made;
}

/// A first name that is free, for two runs that start in the same second.
std::string make_named_by_time(const std::string& program) {
  const std::string name = "runs/" + program + "-" + utc_time("%Y%m%d-%H%M%S");
  std::string free = name;
  for (int i = 2; !make_directory(free); ++i) free = name + "-" + std::to_string(i);
  return free;
}

}  // namespace

std::string make_run_directory(const std::string& out, const std::string& program) {
  if (out.empty()) return make_named_by_time(program);
  std::error_code error;
  if (fs::exists(out, error) && !fs::is_directory(out, error)) fail(out, "it is not a directory");
  if (!make_directory(out)) {
    const bool empty = fs::is_empty(out, error);
    if (error) fail(out, error.message());
    if (!empty) fail(out, "the directory is not empty; a run needs one of its own");
  }
  return out;
}

LineFile::LineFile(std::string path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail(path_, std::strerror(errno));
}

LineFile::~LineFile() { close(); }

std::string LineFile::append(std::string_view lines) noexcept {
  if (const int error = write_all(descriptor_, lines)) {
    // The reason to report is the first error; a half line that cannot be cut off either stays.
    if (::ftruncate(descriptor_, size_) == 0) ::lseek(descriptor_, size_, SEEK_SET);
    return std::strerror(error);
  }
  size_ += static_cast<long>(lines.size());
  return "";
}

std::string LineFile::close() noexcept {
  const int descriptor = std::exchange(descriptor_, -1);
  return descriptor >= 0 && ::close(descriptor) != 0 ? std::strerror(errno) : "";
}

}  // namespace xtape
