// xtape report RUN
#pragma once

#include <string>

namespace xtape {

struct ReportOptions {
  std::string directory;
  std::string out = {};  ///< default: report.html in the directory
};

/// Writes the page and prints its name on stdout, and what is missing of the run on stderr. Returns 0. Throws FileError
/// for a path that is no run, and if the page cannot be written.
int write_report(const ReportOptions& options);

}  // namespace xtape
