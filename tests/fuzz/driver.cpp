#include "fuzz.hpp"

#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include <xtape/core/error.hpp>

namespace xtape::fuzz {

namespace {

std::size_t limit = 0;  // 0 outside try_input, because the fuzzer's own allocations do not count

void on_allocation(const volatile void*, std::size_t size) {
  if (limit == 0 || size <= limit) return;
  std::fprintf(stderr, "an allocation of %zu bytes, where at most %zu are allowed\n", size, limit);
  std::abort();
}

void on_release(const volatile void*) {}

const int installed = __sanitizer_install_malloc_and_free_hooks(on_allocation, on_release);

}  // namespace

MemoryFile::MemoryFile(std::string_view content)
    : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(descriptor_)) {
  if (descriptor_ < 0 || ::write(descriptor_, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    fault("no file in memory can be made");
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

void fault(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

}  // namespace xtape::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtape;
  if (fuzz::installed == 0) fuzz::fault("allocations cannot be watched");
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  fuzz::limit = fuzz::largest_allocation(input);
  try {
    fuzz::try_input(input);
  } catch (const Error&) {  // the expected result for an invalid input
  }
  fuzz::limit = 0;
  return 0;
}
