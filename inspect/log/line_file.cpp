#include <xtape/core/error.hpp>
#include <xtape/data/durable_file.hpp>
#include <xtape/data/files.hpp>
#include <xtape/inspect/log/line_file.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace xtape {

std::size_t size_before(index_t step, std::string_view content,
                        const std::function<std::optional<index_t>(std::string_view)>& step_of) {
  std::size_t size = 0;
  while (true) {
    const std::size_t end = content.find('\n', size);
    if (end == content.npos) return size;
    const std::optional<index_t> line_step = step_of(content.substr(size, end - size));
    if (line_step && *line_step >= step) return size;
    size = end + 1;
  }
}

LineFile::LineFile(std::string path, Open how)
    : path_(std::move(path)), descriptor_(open_file(path_, O_WRONLY | O_CREAT | (how == Open::fresh ? O_EXCL : 0))) {
  if (descriptor_ < 0) throw FileError("run_log", path_ + ": " + std::strerror(errno));
  size_ = ::lseek(descriptor_, 0, SEEK_END);
}

LineFile::~LineFile() { close(); }

std::string LineFile::append(std::string_view lines) noexcept {
  if (const int error = write_all(descriptor_, lines)) {
    // Report the first error. If the file cannot be truncated, an incomplete line stays.
    if (::ftruncate(descriptor_, size_) == 0) ::lseek(descriptor_, size_, SEEK_SET);
    return std::strerror(error);
  }
  size_ += static_cast<long>(lines.size());
  return "";
}

std::string LineFile::flush() noexcept { return ::fsync(descriptor_) != 0 ? std::strerror(errno) : ""; }

void LineFile::cut(std::size_t size) {
  const auto end = static_cast<off_t>(size);
  if (::ftruncate(descriptor_, end) != 0 || ::lseek(descriptor_, end, SEEK_SET) != end)
    throw FileError("run_log", path_ + ": " + std::strerror(errno));
  size_ = end;
}

std::string LineFile::close() noexcept {
  const int descriptor = std::exchange(descriptor_, -1);
  return descriptor >= 0 && ::close(descriptor) != 0 ? std::strerror(errno) : "";
}

}  // namespace xtape
