// xtape compare RUN...
#pragma once

#include <string>
#include <vector>

namespace xtape {

struct CompareOptions {
  std::vector<std::string> directories;
  std::string out = "compare.html";
};

/// Writes a page that compares several runs, prints a table and the name of the page on stdout and warnings about the
/// runs on stderr. Returns 0. Throws FileError if a directory is not a run or the page cannot be written.
int write_comparison(const CompareOptions& options);

}  // namespace xtape
