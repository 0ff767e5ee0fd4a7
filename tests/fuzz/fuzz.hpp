// Interface of a fuzz target: the input bytes, a file that holds them, and a limit on its allocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace xtape::fuzz {

/// Tries one input. Each target defines it. An exception other than a typed error of the library must reach the driver.
void try_input(std::string_view input);

/// The largest single allocation that a target allows for an input. Each target defines it.
std::size_t largest_allocation(std::string_view input);

/// A temporary file in memory, with a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

/// Reports a fault of the library as a crash, which the fuzzer records.
[[noreturn]] void fault(const std::string& what);

}  // namespace xtape::fuzz
