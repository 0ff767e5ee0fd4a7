// xtape weights FILE
#pragma once

#include <string>

namespace xtape {

/// Prints the tensors of a safetensors file on stdout. Returns 0. Throws FileError if the file cannot be read.
int list_weights(const std::string& path);

}  // namespace xtape
