#include "sources.hpp"

#include <xtape/core/error.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

namespace xtape::test {

namespace {

const std::filesystem::path kRoot = XTAPE_SOURCE_DIR;

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

std::vector<std::filesystem::path> files(const std::string& folder, const std::string& extension) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder))
    if (entry.path().extension() == extension) out.push_back(entry.path());
  return out;
}

/// The first capture group of every match.
std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern, std::regex::ECMAScript | std::regex::multiline);
  std::vector<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) out.push_back((*it)[1]);
  return out;
}

std::set<std::string> matches_in(const std::vector<std::filesystem::path>& paths, const std::string& pattern) {
  std::set<std::string> out;
  for (const auto& path : paths)
    for (const std::string& match : matches(text_of(path), pattern)) out.insert(match);
  return out;
}

/// Functions of core/ops that take the name of an op and record under it, or pass it to a function that does:
/// "a|b|...".
std::string recorders(const std::vector<std::filesystem::path>& sources) {
  std::map<std::string, std::string> bodies;
  for (const auto& path : sources) {
    const std::string text = text_of(path);
    for (const std::string& name : matches(text, R"(^[\w:<>]+ (\w+)\(const char\* op,)")) {
      const std::size_t begin = text.find(" " + name + "(const char* op,");
      bodies[name] += text.substr(begin, text.find("\n}\n", begin) - begin);
    }
  }
  std::string found = "record";
  for (bool grew = true; grew;) {
    grew = false;
    for (auto it = bodies.begin(); it != bodies.end();) {
      const bool records = std::regex_search(it->second, std::regex("\\b(?:" + found + R"()\(\s*op,)"));
      if (records && it->first != "record") found += "|" + it->first;
      grew |= records;
      it = records ? bodies.erase(it) : std::next(it);
    }
  }
  return found;
}

}  // namespace

std::set<std::string> recorded_op_names() {
  const auto sources = files("core/ops", ".cpp");
  const std::string literal = "\\b(?:" + recorders(sources) + R"re()\(\s*"(\w+)")re";
  std::set<std::string> names;
  for (const auto& path : sources) {
    const std::string text = text_of(path);
    // The name may be a constant of the function: constexpr const char* op = "...".
    for (const std::string& name : matches(text, R"re(const char\* op = "(\w+)")re")) names.insert(name);
    for (const std::string& name : matches(text, literal)) names.insert(name);
    for (const std::string& argument : matches(text, R"(\brecord\(\s*([^"\s,][^,]*),)"))
      if (argument != "op" && argument != "const char* op")
        throw ValueError("coverage", path.filename().string() + " records an op under '" + argument +
                                         "': give the name as a literal, or call it `op`");
  }
  return names;
}

std::set<std::string> op_functions() {
  std::set<std::string> out;
  for (const auto& path : files("core/ops", ".hpp")) {
    const std::string text = text_of(path);
    if (text.find("Not part of the public") != std::string::npos) continue;
    for (const std::string& name : matches(text, R"(^(?:Tensor|std::vector<Tensor>|\w+Sequence|\w+Step) (\w+)\()"))
      out.insert(name);
  }
  // Incremental decoding computes what other ops compute, and records nothing.
  for (const char* name : {"cached_attention", "cached_positions", "linear_attention_step"}) out.erase(name);
  return out;
}

std::set<std::string> layer_classes() {
  auto paths = files("nn", ".hpp");
  for (const auto& path : files("models", ".hpp")) paths.push_back(path);
  auto classes = matches_in(paths, R"(^  (?:explicit )?(\w+)\(const Scope& \w+)");
  for (const char* part : {"RecurrentParameters", "RecurrentStack"}) classes.erase(part);  // parts of RNN, GRU, LSTM
  return classes;
}

std::set<std::string> optimizer_classes() {
  return matches_in(files("optim", ".hpp"), R"(^  explicit (\w+)\(std::vector<ParamGroup>)");
}

std::set<std::string> schedule_functions() {
  return matches_in({kRoot / "optim/schedule.hpp"}, R"(^double (\w+)\(index_t)");
}

}  // namespace xtape::test
