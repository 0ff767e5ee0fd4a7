// xtape weights FILE: lists what a safetensors file holds.
#pragma once

#include <string>

namespace xtape {

/// A line for each tensor, name, type, shape and elements, then the total and the metadata; control characters and what
/// would be too long for a line are replaced. Throws FileError.
std::string weights_listing(const std::string& path);

}  // namespace xtape
