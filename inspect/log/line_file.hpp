// LineFile: a file of a run to which whole lines are appended.
#pragma once

#include <xtape/core/config.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace xtape {

/// The number of bytes that belong to steps before `step`, in a file whose lines are in order of steps. An incomplete
/// last line is not counted. `step_of` returns the step of a line, or nothing for a line that always stays (a heading).
std::size_t size_before(index_t step, std::string_view content,
                        const std::function<std::optional<index_t>(std::string_view line)>& step_of);

/// A file that grows by whole lines. Each append is passed to the system at once.
class LineFile {
 public:
  enum class Open { fresh, go_on };
  /// Throws FileError if the file cannot be created, or exists and must be fresh.
  explicit LineFile(std::string path, Open how = Open::fresh);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// Returns "", or the reason why the lines could not be written (a full disk). The file then keeps its old size.
  std::string append(std::string_view lines) noexcept;
  /// Flushes all lines to disk; closes the file. Both return "" or the reason of a failure.
  std::string flush() noexcept;
  std::string close() noexcept;
  /// Truncates the file. Throws FileError.
  void cut(std::size_t size);

  const std::string& path() const { return path_; }
  bool empty() const { return size_ == 0; }

 private:
  std::string path_;
  int descriptor_;
  long size_ = 0;
};

}  // namespace xtape
