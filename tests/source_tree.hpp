// The sources of the tree, for the tests that read them.
#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace xtape::test {

struct Source {
  std::string path;    ///< from the top of the tree
  std::string module;  ///< its first folder, or "core/kernels"
  std::vector<std::string> lines;
  std::vector<std::string> code;  ///< the lines without comments

  bool header() const { return path.ends_with(".hpp"); }
};

inline std::string module_of(const std::string& path) {
  if (path.starts_with("core/kernels/")) return "core/kernels";
  return path.substr(0, path.find('/'));
}

/// Every source of the tree but the two tests that name what they forbid.
inline const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    std::vector<Source> out;
    for (const char* module :
         {"core", "nn", "optim", "models", "data", "inspect", "train", "examples", "tests", "bench"}) {
      if (!std::filesystem::is_directory(std::filesystem::path(XTAPE_SOURCE_DIR) / module)) continue;
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(std::filesystem::path(XTAPE_SOURCE_DIR) / module)) {
        const std::string extension = entry.path().extension();
        if (extension != ".hpp" && extension != ".cpp") continue;
        Source source;
        source.path = std::filesystem::relative(entry.path(), XTAPE_SOURCE_DIR);
        if (source.path == "tests/structure_test.cpp" || source.path == "tests/code_rules_test.cpp") continue;
        source.module = module_of(source.path);
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) {
          source.code.push_back(line.substr(0, line.find("//")));
          source.lines.push_back(std::move(line));
        }
        out.push_back(std::move(source));
      }
    }
    return out;
  }();
  return all;
}

inline bool in_library(const Source& source) {
  return source.module != "examples" && source.module != "tests" && source.module != "bench";
}

/// Calls found(source, line number, match) for every line of code that matches.
template <class Found>
void for_matches(const std::string& pattern, const Found& found) {
  const std::regex regex(pattern);
  for (const Source& source : sources())
    for (std::size_t i = 0; i < source.code.size(); ++i) {
      std::smatch match;
      if (std::regex_search(source.code[i], match, regex)) found(source, i + 1, match);
    }
}

inline std::string place(const Source& source, std::size_t line) { return source.path + ":" + std::to_string(line); }

}  // namespace xtape::test
