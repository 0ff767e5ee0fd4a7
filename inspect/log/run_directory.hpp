// The run directory and the files in it.
#pragma once

#include <xtape/core/config.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace xtape {

/// Makes the directory of a run and returns its path: `out`, or runs/<program>-<UTC time> if `out` is empty. Throws
/// FileError if `out` is there and not an empty directory, or cannot be made. One that holds only what a run leaves
/// that was killed before it wrote run.json counts as empty.
std::string make_run_directory(const std::string& out, const std::string& program);

/// Keeps other processes, and other logs of this one, from the directory of a run while it lives; the system takes the
/// lock back from a process that dies.
class DirectoryLock {
 public:
  /// Throws FileError if another has it, naming the process.
  explicit DirectoryLock(const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_;
};

/// How many bytes of a file of lines, each with a step in it and in the order of steps, belong to steps before `step`.
/// A line without an end does not. `step_of` gives a line's step, or nothing for one that always stays (a heading).
std::size_t size_before(index_t step, std::string_view content,
                        const std::function<std::optional<index_t>(std::string_view line)>& step_of);

/// A file that only grows, by whole lines; each append reaches the system at once.
class LineFile {
 public:
  enum class Open { fresh, go_on };
  /// Throws FileError if the file cannot be made, or is there and should be fresh.
  explicit LineFile(std::string path, Open how = Open::fresh);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// "" if the lines were written; else why not (a full disk), and the file ends where it ended before.
  std::string append(std::string_view lines) noexcept;
  /// The same for bringing all lines to the disk, and for closing the file.
  std::string flush() noexcept;
  std::string close() noexcept;
  /// Removes what lies beyond a size. Throws FileError.
  void cut(std::size_t size);

  const std::string& path() const { return path_; }
  bool empty() const { return size_ == 0; }

 private:
  std::string path_;
  int descriptor_;
  long size_ = 0;
};

}  // namespace xtape
