#include <xtape/data/files.hpp>
#include <xtape/inspect/run/line_reader.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace xtape {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kTail = 64;  // bytes by which a file that was written anew is recognized

/// A file that is open for reading, if it can be opened.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : descriptor_(open_file(path, O_RDONLY | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// The size of a regular file, or -1.
  std::int64_t size() const {
    struct stat status{};
    return descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : -1;
  }
  /// Reads up to the size of `buffer` and returns the part that was read.
  std::string_view read(std::string& buffer, std::uint64_t position) const {
    ssize_t count;
    do count = ::pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(position));
    while (count < 0 && errno == EINTR);
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }

 private:
  int descriptor_;
};

}  // namespace

bool LineReader::restart_if_rewritten() {
  const OpenFile file(path_);
  const std::int64_t size = file.size();
  if (size < 0) return false;  // missing; what was read of it stays known
  std::string now(tail_.size(), '\0');
  const bool same = static_cast<std::uint64_t>(size) >= position_ && file.read(now, position_ - tail_.size()) == tail_;
  if (same) return false;
  *this = LineReader(path_);
  return true;
}

index_t LineReader::read(const std::function<void(const Line&)>& take) {
  const OpenFile file(path_);
  missing_ = file.size() < 0;
  passed_ = 0;
  if (missing_) return 0;
  std::string buffer(kBlock, '\0');
  for (std::string_view block; !(block = file.read(buffer, position_)).empty();) take_block(block, take);
  return passed_;
}

void LineReader::take_block(std::string_view block, const std::function<void(const Line&)>& take) {
  const std::uint64_t begin = position_;
  for (std::size_t at = 0; at < block.size();) {
    const std::size_t end = std::min(block.find('\n', at), block.size());
    const std::size_t zero = block.substr(0, end).find('\0', at);
    if (zero != block.npos) {
      pass(block.substr(at, zero - at), true, take);
      position_ = begin + zero;
      at = skip_zeros(block, zero);
      continue;
    }
    in_hole_ = false;
    if (end == block.size()) {
      pending_ += block.substr(at);
      break;
    }
    pass(block.substr(at, end - at), false, take);
    at = end + 1;
    ++lines_;
    offset_ = begin + at;
  }
  position_ = begin + block.size();
  remember_tail(block);
}

/// Counts the zero bytes at position_ and returns the place behind them.
std::size_t LineReader::skip_zeros(std::string_view block, std::size_t at) {
  const std::size_t end = std::min(block.find_first_not_of('\0', at), block.size());
  if (holes_.count == 0) {
    holes_.first_byte = position_;
    holes_.first_line = lines_ + 1;
  }
  if (!in_hole_ || at > 0) ++holes_.count;  // otherwise one that began in the block before
  in_hole_ = true;
  holes_.bytes += end - at;
  return end;
}

void LineReader::pass(std::string_view text, bool cut, const std::function<void(const Line&)>& take) {
  if (!pending_.empty()) text = pending_ += text;
  if (text.find_first_not_of(" \t\r") != text.npos) {
    ++passed_;
    take({text, lines_ + 1, cut});
  }
  pending_.clear();
}

void LineReader::remember_tail(std::string_view block) {
  tail_ += block.substr(block.size() - std::min(block.size(), kTail));
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
}

}  // namespace xtape
