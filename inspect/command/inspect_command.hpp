// xtape inspect RUN
#pragma once

#include <string>

namespace xtape {

struct InspectOptions {
  std::string directory;
  bool json = false;
  bool follow = false;
};

/// Prints the page of a run on stdout and warnings about the run on stderr. Returns 0, or 3 if the run diverged. Throws
/// FileError if `directory` is not a run.
int inspect_run(const InspectOptions& options);

}  // namespace xtape
