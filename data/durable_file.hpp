// Writing files that survive a crash.
#pragma once

#include <string>
#include <string_view>

namespace xtape {

/// Writes a whole file durably: writes a temporary file beside it, flushes it to disk, renames it to `path` and flushes
/// the directory. If this is interrupted at any point, `path` holds either the old content or the new content,
/// complete; so do other processes that read or write it at the same time, and the last one to finish wins. A file
/// keeps its permissions. A symbolic link stays, and the file that it leads to is written. A device or pipe is written
/// as it is. Throws FileError; the temporary file is then removed.
void write_file(const std::string& path, std::string_view content);

/// Whether `name` is that of a temporary file of write_file for the file `final_name`: "run.json.new-4711-3" of
/// "run.json", with the number of the process and a count. A crash leaves it behind; no other file has such a name.
bool is_temporary_name(std::string_view name, std::string_view final_name);

/// Writes all bytes to an open file descriptor. Returns 0 or errno.
int write_all(int descriptor, std::string_view bytes) noexcept;

}  // namespace xtape
