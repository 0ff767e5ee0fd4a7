// Grouping of parameters into layers by their dotted names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace xtape {

/// The layer of each parameter. This is the parameter's own name if there are at most `most` parameters. Otherwise all
/// names are shortened to the same number of dotted parts, the largest number that gives at most `most` layers.
std::vector<std::string> layer_names(const std::vector<std::string>& parameters, std::size_t most);

}  // namespace xtape
