// Suggestions for misspelled names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xtape {

/// The name nearest to the given one: one that starts with it, or the one with the smallest edit distance, which must
/// be at most 3 and less than half of the length. Empty if there is none.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

/// "; did you mean --NAME?", or "; see --help" if no name is near. `prefix` stands before the name.
std::string suggestion(std::string_view given, const std::vector<std::string>& names, std::string_view prefix);

}  // namespace xtape
