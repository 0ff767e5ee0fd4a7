// Reads a program's options from --help, and checks how it refuses invalid ones.
#pragma once

#include "child_process.hpp"
#include "support.hpp"

#include <filesystem>
#include <sstream>

namespace xtape::test {

struct HelpOption {
  std::string name;         ///< "steps"
  std::string placeholder;  ///< "N", "X", "NAME", "TEXT", or empty for a flag
  std::string notes;        ///< the text in the last parentheses: "1 to 4096; default 64"
};

/// The options in the text of --help. The wrapped lines of an option are joined first.
inline std::vector<HelpOption> options_of(const std::string& help) {
  std::vector<std::string> entries;
  for (const std::string& line : lines_of(help)) {
    if (line.starts_with("  --")) entries.push_back(line);
    else if (line.starts_with("   ") && !entries.empty())
      entries.back() += " " + line.substr(line.find_first_not_of(' '));
  }
  std::vector<HelpOption> out;
  for (const std::string& entry : entries) {
    std::istringstream words(entry);
    HelpOption option;
    words >> option.name >> option.placeholder;
    option.name = option.name.substr(2);
    const std::size_t after = entry.find(option.name) + option.name.size();
    if (entry.compare(after, 2, "  ") == 0) option.placeholder.clear();  // it was the first word of the text
    const std::size_t open = entry.rfind('(');
    if (entry.ends_with(")")) option.notes = entry.substr(open + 1, entry.size() - open - 2);
    if (option.name != "help") out.push_back(option);
  }
  return out;
}

/// Checks that the program prints one line about `part` and exits with code 2, without other output or files.
inline void check_refused(const std::string& program, const std::vector<std::string>& arguments,
                          const std::string& part) {
  const TemporaryDirectory work;
  std::string shown;
  for (const std::string& argument : arguments) shown += argument + " ";
  const Finished result = run(program, arguments, work.path());
  INFO(program, " ", shown, "gave ", result.code, ": ", result.err);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK(lines_of(result.err).size() == 1);
  CHECK(result.err.starts_with("error: ["));
  CHECK(result.err.find(part) != std::string::npos);
  CHECK(std::filesystem::is_empty(work.path()));
}

}  // namespace xtape::test
