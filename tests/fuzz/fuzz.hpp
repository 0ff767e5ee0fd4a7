// What every fuzz target has: the bytes that are tried, a file of them, and a limit for what they may allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace xtape::fuzz {

/// Tries one input. Defined by each target; whatever is not a typed error of the library must reach the driver.
void try_input(std::string_view input);

/// The largest single allocation that a target allows for an input. Defined by each target.
std::size_t largest_allocation(std::string_view input);

/// A file in memory with a path of its own, while it lives.
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

/// Reports a fault of the library in a way that the fuzzer takes for a crash.
[[noreturn]] void fault(const std::string& what);

}  // namespace xtape::fuzz
