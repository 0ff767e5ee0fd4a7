// The listing of a safetensors file that `xtape weights` prints.
#pragma once

#include <string>

namespace xtape {

/// One line for each tensor (name, type, shape, elements), then the totals and the metadata. Control characters are
/// replaced and long texts shortened. Throws FileError.
std::string safetensors_listing(const std::string& path);

}  // namespace xtape
