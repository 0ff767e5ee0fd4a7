// What a misspelled name may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xtape {

/// The name that is nearest to what was given: the one that it begins, or that differs in the fewest characters, at
/// most 3 and less than half of them; empty if none is near.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

/// "; did you mean --NAME?", or "; see --help" if no name is near. `prefix` stands before the name.
std::string suggestion(std::string_view given, const std::vector<std::string>& names, std::string_view prefix);

}  // namespace xtape
