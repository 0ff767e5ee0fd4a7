// Files that may be packed with gzip.
#pragma once

#include <string>
#include <string_view>

namespace xtape {

/// True if bytes begin as a gzip file does.
bool is_gzip(std::string_view bytes) noexcept;

/// The content of a gzip file. Throws FileError naming `name` if it is damaged, cut, followed by other bytes, or if the
/// content is more than 100 times as large as the file (and more than 1 MiB): a few bytes cannot fill the memory.
std::string unpack_gzip(std::string_view bytes, const std::string& name);

/// The bytes of a file as read_file gives them, unpacked if they are a gzip file, whatever its name. Throws FileError.
std::string read_unpacked(const std::string& path);

}  // namespace xtape
