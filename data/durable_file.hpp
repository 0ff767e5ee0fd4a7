// Writing files that survive a crash.
#pragma once

#include <string>
#include <string_view>

namespace xtape {

/// Writes a whole file durably: writes path + ".new", flushes it to disk, renames it to `path` and flushes the
/// directory. If this is interrupted at any point, `path` holds either the old content or the new content, complete.
/// Throws FileError; the temporary file is then removed.
void write_file(const std::string& path, std::string_view content);

/// Writes all bytes to an open file descriptor. Returns 0 or errno.
int write_all(int descriptor, std::string_view bytes) noexcept;

}  // namespace xtape
