// Finding and reading whole files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xtape {

/// The path of a data file: looks for `path` as given, then in the directory $XTAPE_DATA, then in ./datasets. An
/// absolute path is only looked for as given. Throws FileError, which names the places searched.
std::string find_data(const std::string& path);

/// open(2) with O_CLOEXEC and mode 0666. The descriptor is never one of the standard streams, even if those are closed.
/// Returns -1 with errno.
int open_file(const std::string& path, int flags) noexcept;

/// The bytes of a regular file. Throws FileError if it is not a regular file, cannot be read completely, or changes
/// while it is read.
std::string read_file(const std::string& path);

/// CRC-32 of bytes, as in zip and zlib.
std::uint32_t crc32(std::string_view bytes) noexcept;

}  // namespace xtape
