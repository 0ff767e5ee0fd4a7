// The run directory and the files in it.
#pragma once

#include <string>
#include <string_view>

namespace xtape {

/// Makes the directory of a run and returns its path: `out`, or runs/<program>-<UTC time> if `out` is empty. Throws
/// FileError if `out` is there and not an empty directory, or cannot be made.
std::string make_run_directory(const std::string& out, const std::string& program);

/// A file that only grows, by whole lines; each append reaches the system at once.
class LineFile {
 public:
  /// Throws FileError if the file is there or cannot be made.
  explicit LineFile(std::string path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// "" if the lines were written; else why not (a full disk), and the file ends where it ended before.
  std::string append(std::string_view lines) noexcept;
  /// The same for closing it.
  std::string close() noexcept;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_;
  long size_ = 0;
};

}  // namespace xtape
