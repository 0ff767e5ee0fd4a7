// xtape inspect RUN
#pragma once

#include <string>

namespace xtape {

struct InspectOptions {
  std::string directory;
  bool json = false;
  bool follow = false;
};

/// Prints the page of a run on stdout and what is missing on stderr. Returns 0, or 3 if the run diverged. Throws
/// FileError for a path that is no run.
int inspect_run(const InspectOptions& options);

}  // namespace xtape
