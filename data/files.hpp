// Finding and reading data files.
#pragma once

#include <string>

namespace xtape {

/// Where a data set lies: `path` as given, else in the directory $XTAPE_DATA, else in ./datasets (an absolute path is
/// only looked for as given). Throws FileError naming the places searched.
std::string find_data(const std::string& path);

/// The bytes of a regular file. Throws FileError if it is a directory or another kind of file, or cannot be read whole.
std::string read_file(const std::string& path);

}  // namespace xtape
