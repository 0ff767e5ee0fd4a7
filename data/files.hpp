// Finding, reading and writing whole files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xtape {

/// Where a data set lies: `path` as given, else in the directory $XTAPE_DATA, else in ./datasets (an absolute path is
/// only looked for as given). Throws FileError naming the places searched.
std::string find_data(const std::string& path);

/// The bytes of a regular file. Throws FileError if it is a directory or another kind of file, cannot be read whole, or
/// is changed while it is read.
std::string read_file(const std::string& path);

/// Writes a whole file: under a temporary name, path + ".new", flushed to the disk, renamed, and the directory flushed.
/// Whatever interrupts it, the path names the file as it was before or as it is after. Throws FileError, and then
/// leaves nothing behind.
void write_file(const std::string& path, std::string_view content);

/// Writes all bytes to an open file. 0, or the system's error number.
int write_all(int descriptor, std::string_view bytes) noexcept;

/// CRC-32 of bytes, as in zip and zlib.
std::uint32_t crc32(std::string_view bytes) noexcept;

}  // namespace xtape
