// xtape report RUN
#pragma once

#include <string>

namespace xtape {

struct ReportOptions {
  std::string directory;
  std::string out = {};  ///< default: report.html in the directory
};

/// Writes the report of a run, prints the name of the page on stdout and warnings about the run on stderr. Returns 0.
/// Throws FileError if `directory` is not a run or the page cannot be written.
int write_report(const ReportOptions& options);

}  // namespace xtape
