// Files that may be compressed with gzip.
#pragma once

#include <string>
#include <string_view>

namespace xtape {

/// Whether the bytes begin with the gzip signature.
bool is_gzip(std::string_view bytes) noexcept;

/// The content of a gzip file. Throws FileError, which names `name`, if the file is damaged, truncated or followed by
/// bytes other than zeros, or if the content is larger than 1 MiB and more than 100 times the size of the file, which
/// protects the memory.
std::string unpack_gzip(std::string_view bytes, const std::string& name);

/// The bytes of a file, decompressed if they begin with the gzip signature. Throws FileError.
std::string read_unpacked(const std::string& path);

}  // namespace xtape
