// The options that a run was started with.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace xtape {

/// Name and value of every option in the run.json of a run's directory, as on the command line; a flag has the value
/// "true" or "". Throws FileError if there is no such run, it cannot be read, or it is not one of this program.
std::vector<std::pair<std::string, std::string>> options_of_run(const std::string& directory,
                                                                const std::string& program);

}  // namespace xtape
