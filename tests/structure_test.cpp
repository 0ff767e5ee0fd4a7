// Rules about the tree that no compiler checks: who may include whom, names, and sizes.
#include "source_tree.hpp"
#include "support.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace fs = std::filesystem;
using namespace xtape;
using namespace xtape::test;

namespace {

/// The module, and in core/kernels and inspect the folder in it: what the include rules are about.
std::string folder_of(const std::string& path) {
  if (path.starts_with("inspect/")) return path.substr(0, path.find('/', std::string("inspect/").size()));
  return module_of(path);
}

/// Names of the files in a folder that are not in a folder below it, without their endings.
std::set<std::string> families_in(const std::string& folder) {
  std::set<std::string> out;
  for (const Source& source : sources())
    if (fs::path(source.path).parent_path() == folder) out.insert(fs::path(source.path).stem());
  return out;
}

/// The parts of a name, split at underscores and capital letters, in lower case.
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> out(1);
  for (char c : name) {
    const bool capital = std::isupper(static_cast<unsigned char>(c)) != 0;
    if ((capital || c == '_') && !out.back().empty()) out.emplace_back();
    if (c != '_') out.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// The names in a line of code, without what stands in quotes.
std::vector<std::string> names_in(const std::string& code) {
  std::vector<std::string> out;
  bool quoted = false, inside = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '\\' && quoted) ++i;
    else if (c == '"') quoted = !quoted;
    const bool letter = !quoted && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
    if (letter && !inside) out.emplace_back();
    if (letter) out.back() += c;
    inside = letter;
  }
  return out;
}

/// From scripts/lib/forbidden_words.txt: each word with what to use instead.
std::map<std::string, std::string> forbidden_words() {
  std::map<std::string, std::string> out;
  std::ifstream in(fs::path(XTAPE_SOURCE_DIR) / "scripts/lib/forbidden_words.txt");
  for (std::string line; std::getline(in, line);) {
    const std::size_t tab = line.find('\t');
    if (line.starts_with("#") || tab == line.npos) continue;
    const std::size_t end = line.find('\t', tab + 1);
    out[line.substr(0, tab)] = line.substr(tab + 1, end == line.npos ? end : end - tab - 1);
  }
  return out;
}

}  // namespace

TEST_CASE("the structure test sees the tree") {
  std::set<std::string> modules;
  for (const Source& source : sources()) modules.insert(source.module);
  for (const char* module : {"core", "core/kernels", "nn", "optim", "models", "data", "tests"}) {
    INFO(module);
    CHECK(modules.contains(module));
  }
  CHECK(sources().size() > 100);
}

TEST_CASE("modules include only the modules below them") {
  const std::map<std::string, std::set<std::string>> below = {
      {"core/kernels", {"core/kernels"}},
      {"core", {"core", "core/kernels"}},
      {"nn", {"core", "core/kernels", "nn"}},
      {"optim", {"core", "core/kernels", "optim"}},
      {"data", {"core", "data"}},
      {"models", {"core", "core/kernels", "nn", "data", "models"}},
      {"inspect/run", {"core", "data", "inspect/run"}},
      {"inspect/verdicts", {"core", "data", "inspect/run", "inspect/verdicts"}},
      {"inspect/log", {"core", "core/kernels", "data", "inspect/run", "inspect/verdicts", "inspect/log"}},
      {"inspect/report", {"core", "data", "inspect/run", "inspect/verdicts", "inspect/report"}},
      {"inspect/measure", {"core", "core/kernels", "optim", "inspect/measure"}},
      {"train", {"core", "nn", "optim", "data", "inspect/run", "inspect/log", "train"}},
  };
  // What kernels need of core; the array types only because xtensor-blas must be included after them.
  const std::set<std::string> base = {"core/array.hpp", "core/config.hpp", "core/error.hpp", "core/pool.hpp",
                                      "core/threads.hpp"};
  for_matches(R"(#include\s*<xtape/([^>]+)>)", [&](const Source& source, std::size_t line, const std::smatch& match) {
    const std::string included = match[1];
    CHECK_MESSAGE(fs::exists(fs::path(XTAPE_SOURCE_DIR) / included), place(source, line), ": no such file: ", included);
    const std::string folder = folder_of(source.path);
    if (!in_library(source) || folder == "inspect/command") return;  // the command stands above all modules
    REQUIRE_MESSAGE(below.contains(folder), source.path, " is in a folder that this test does not know");
    const bool allowed =
        below.at(folder).contains(folder_of(included)) || (folder == "core/kernels" && base.contains(included));
    CHECK_MESSAGE(allowed, place(source, line), ": ", folder, " must not include ", included);
    // Loops that are compiled for every instruction set must not define what other files define, too.
    if (source.path.starts_with("core/kernels/isa/"))
      CHECK_MESSAGE((included.starts_with("core/kernels/isa/") || included == "core/config.hpp"), place(source, line),
                    ": core/kernels/isa must not include ", included);
  });
}

TEST_CASE("a family of ops has one name at its three heights") {
  const std::set<std::string> ops = families_in("core/ops"), kernels = families_in("core/kernels");
  // Two families have another name above: the op matmul calls gemm, and optimizers stand in the module optim. The
  // others are tools that no op is named after.
  const std::set<std::string> without_op = {"gemm",         "optim",        "array_statistics", "blocked_sum",
                                            "gemm_backend", "isa",          "parallel",         "qr",
                                            "scratch",      "strided_loop", "wide_range"};
  for (const std::string& family : kernels)
    CHECK_MESSAGE((ops.contains(family) != without_op.contains(family)), "core/kernels/", family, " and core/ops");
  const std::set<std::string> tools = {"lanes", "math", "output", "registers", "store", "tables", "types"};
  for (const std::string& family : families_in("core/kernels/isa"))
    if (!tools.contains(family))
      CHECK_MESSAGE(kernels.contains(family), "core/kernels/isa/", family, " has no file in core/kernels");
  CHECK(ops.size() >= 18);
}

TEST_CASE("names use the words of the field") {
  const std::map<std::string, std::string> forbidden = forbidden_words();
  CHECK(forbidden.size() > 10);
  const std::set<std::string> allowed = {"negative_slope", "alibi_slope", "alibi_slopes"};
  const auto check = [&](const std::string& where, const std::string& name) {
    if (allowed.contains(name)) return;
    for (const std::string& word : parts_of(name))
      if (const auto found = forbidden.find(word); found != forbidden.end())
        FAIL_CHECK(where, ": ", name, ": say ", found->second);
  };
  for (const Source& source : sources()) {
    for (const auto& part : fs::path(source.path)) check(source.path, part.stem());
    for (std::size_t i = 0; i < source.code.size(); ++i)
      for (const std::string& name : names_in(source.code[i])) check(place(source, i + 1), name);
  }
}

TEST_CASE("functions are short") {
  // The tile is one unrolled loop; cut in two it would pass its registers through memory.
  const std::set<std::string> longer = {"core/kernels/isa/gemm.cpp"};
  const std::regex head(R"(^[A-Za-z][^;]*\(.*)"),
      other(R"(^(?:namespace|struct|class|enum|union|extern|template|using)\b)");
  for (const Source& source : sources()) {
    if (!in_library(source) || longer.contains(source.path)) continue;
    std::size_t start = 0;
    for (std::size_t i = 0; i < source.code.size(); ++i) {
      const std::string& line = source.code[i];
      if (start == 0 && std::regex_search(line, head) && !std::regex_search(line, other)) start = i + 1;
      if (start == 0 || line.empty()) continue;
      const bool over = line == "}" || line.ends_with(";") || line.ends_with(" }");
      if (over && (line == "}" || line[0] != ' ')) {
        CHECK_MESSAGE(i + 2 - start <= 60, place(source, start), ": a function of ", i + 2 - start, " lines");
        start = 0;
      }
    }
  }
}

TEST_CASE("internal folders are included by their own module only") {
  for_matches(R"(#include\s*<xtape/([^>]+/internal)/[^>]+>)",
              [&](const Source& source, std::size_t line, const std::smatch& match) {
                const std::string internal = match[1], owner = internal.substr(0, internal.rfind('/'));
                CHECK_MESSAGE((source.path.starts_with(owner + "/") || !in_library(source)), place(source, line), ": ",
                              internal, " is internal to ", owner);
                CHECK_MESSAGE((!source.header() || source.path.starts_with(internal + "/") || !in_library(source)),
                              place(source, line), ": a public header must not include ", internal);
              });
}

TEST_CASE("CMake lists the sources of train and inspect that depend on the dtype") {
  std::ostringstream text;
  text << std::ifstream(fs::path(XTAPE_SOURCE_DIR) / "cmake/XtapeLibrary.cmake").rdbuf();
  const std::string cmake = text.str();
  std::smatch list;
  REQUIRE(std::regex_search(cmake, list, std::regex(R"(set\(XTAPE_DTYPE_SOURCES([^)]*)\))")));
  std::istringstream words(list[1]);
  const std::set<std::string> listed{std::istream_iterator<std::string>(words), {}};
  std::set<std::string> found;
  for_matches("inline XTAPE_DTYPE", [&](const Source& source, std::size_t, const std::smatch&) {
    const bool listed_modules = source.module == "data" || source.module == "inspect" || source.module == "train";
    if (!source.header() && listed_modules) found.insert(source.path);
  });
  CHECK(listed == found);
}

TEST_CASE("the library and the examples include its files by their full names") {
  for_matches("#include\\s*\"", [&](const Source& source, std::size_t line, const std::smatch&) {
    CHECK_MESSAGE((source.module == "tests" || source.module == "bench" || source.module == "examples"),
                  place(source, line), ": write <xtape/module/file.hpp>");
  });
}

TEST_CASE("headers are guarded and files are short") {
  for (const Source& source : sources()) {
    if (source.header() && source.path != "core/kernels/isa/math.hpp" && source.path != "core/kernels/isa/lanes.hpp" &&
        source.path != "core/kernels/isa/registers.hpp" && source.path != "core/kernels/isa/store.hpp")
      CHECK_MESSAGE(std::count(source.lines.begin(), source.lines.end(), "#pragma once") == 1, source.path);
    CHECK_MESSAGE(source.lines.size() <= 400, source.path, " has more than 400 lines");
  }
}

TEST_CASE("the example scripts are short, and the README shows the first one") {
  std::size_t scripts = 0;
  for (const Source& source : sources()) {
    if (!std::regex_match(source.path, std::regex("examples/[^/]+\\.[ch]pp"))) continue;
    ++scripts;
    CHECK_MESSAGE(std::regex_match(source.path, std::regex("examples/[0-9]{2}_[a-z_]+\\.cpp")), source.path,
                  ": name it by its number in the reading order");
    CHECK_MESSAGE(source.lines.size() <= 120, source.path, " has more than 120 lines");
    CHECK_MESSAGE(source.lines.front().starts_with("// "), source.path, " does not begin with what it shows");
    for (const std::string& line : source.code)
      if (line.find("opt.step(") != std::string::npos)
        CHECK_MESSAGE(line.find("if (log.accepts(") != std::string::npos, source.path, ": ask log.accepts first");
  }
  CHECK(scripts >= 7);
  const auto text = [](const char* path) {
    std::ostringstream out;
    out << std::ifstream(fs::path(XTAPE_SOURCE_DIR) / path).rdbuf();
    return out.str();
  };
  const std::string readme = text("README.md"), fence = "```cpp\n";
  const std::size_t begin = readme.find(fence) + fence.size();
  CHECK_MESSAGE(readme.substr(begin, readme.find("```", begin) - begin) == text("examples/01_quickstart.cpp"),
                "the script in README.md is not examples/01_quickstart.cpp");
}
