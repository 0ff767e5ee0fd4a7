// xtape report RUN and xtape compare RUN...
#pragma once

#include <string>
#include <vector>

namespace xtape {

struct ReportOptions {
  std::string directory;
  std::string out = {};  ///< default: report.html in the directory
};

/// Writes the page and prints its name on stdout, and what is missing of the run on stderr. Returns 0. Throws FileError
/// for a path that is no run, and if the page cannot be written.
int write_report(const ReportOptions& options);

struct CompareOptions {
  std::vector<std::string> directories;
  std::string out = "compare.html";
};

/// Writes the page of several runs, and prints a table and the page's name. Returns 0. Throws as write_report.
int write_comparison(const CompareOptions& options);

}  // namespace xtape
