// Rules about the sources that no compiler checks: who may include whom, what may be used where, and what nowhere.
#include "support.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using namespace xtape;
using namespace xtape::test;

namespace {

struct Source {
  std::string path;    ///< from the top of the tree
  std::string module;  ///< its first folder, or "core/kernels"
  std::vector<std::string> lines;
  std::vector<std::string> code;  ///< the lines without comments

  bool header() const { return path.ends_with(".hpp"); }
};

std::string module_of(const std::string& path) {
  if (path.starts_with("core/kernels/")) return "core/kernels";
  return path.substr(0, path.find('/'));
}

/// The module, and in core/kernels and inspect the folder in it: what the include rules are about.
std::string folder_of(const std::string& path) {
  if (path.starts_with("inspect/")) return path.substr(0, path.find('/', std::string("inspect/").size()));
  return module_of(path);
}

/// Every source of the tree but this file, which names what it forbids.
const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    std::vector<Source> out;
    for (const char* module :
         {"core", "nn", "optim", "models", "data", "inspect", "train", "examples", "tests", "bench"}) {
      if (!fs::is_directory(fs::path(XTAPE_SOURCE_DIR) / module)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(fs::path(XTAPE_SOURCE_DIR) / module)) {
        const std::string extension = entry.path().extension();
        if (extension != ".hpp" && extension != ".cpp") continue;
        Source source;
        source.path = fs::relative(entry.path(), XTAPE_SOURCE_DIR);
        if (source.path == "tests/structure_test.cpp") continue;
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

bool in_library(const Source& source) {
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

std::string place(const Source& source, std::size_t line) { return source.path + ":" + std::to_string(line); }

/// Fails for every line that matches outside the modules that may.
void allow_only_in(const std::string& pattern, const std::set<std::string>& modules, const std::string& why) {
  for_matches(pattern, [&](const Source& source, std::size_t line, const std::smatch& match) {
    CHECK_MESSAGE(modules.contains(source.module), place(source, line), ": ", match.str(), ": ", why);
  });
}

void allow_nowhere(const std::string& pattern, const std::string& why) { allow_only_in(pattern, {}, why); }

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

TEST_CASE("the file names of a run folder are constants") {
  for_matches(
      R"re("[^"]*\b(run\.json|metrics\.jsonl|grad_norms\.csv|events\.jsonl|tokens\.json|anomaly\.json|best\.safetensors|report\.html)\b)re",
      [&](const Source& source, std::size_t line, const std::smatch& match) {
        if (source.module != "inspect" && source.module != "train") return;
        CHECK_MESSAGE(source.path == "inspect/run/run_folder.hpp", place(source, line), ": ", match.str(1),
                      ": use the constant of inspect/run/run_folder.hpp");
      });
}

TEST_CASE("the library and the examples include its files by their full names") {
  for_matches("#include\\s*\"", [&](const Source& source, std::size_t line, const std::smatch&) {
    CHECK_MESSAGE((source.module == "tests" || source.module == "bench" || source.module == "examples"),
                  place(source, line), ": write <xtape/room/file.hpp>");
  });
}

TEST_CASE("tests and logs stay above the engine") {
  allow_only_in("#include\\s*[<\"]doctest", {"tests"}, "doctest belongs to the tests");
  allow_only_in("#include\\s*[<\"]spdlog", {"inspect", "train", "examples", "tests"}, "spdlog stays out of the engine");
}

TEST_CASE("heavy headers are included in .cpp files only") {
  for_matches(R"(#include\s*[<"](CLI/|nlohmann/|spdlog/|xtensor-blas/|xtensor/x(?!array\.hpp)))",
              [&](const Source& source, std::size_t line, const std::smatch& match) {
                CHECK_MESSAGE((!source.header() || source.module == "tests"), place(source, line), ": ", match.str(),
                              " costs every script seconds");
              });
  for_matches(R"(#include\s*<xtensor/xarray\.hpp>)", [&](const Source& source, std::size_t line, const std::smatch&) {
    CHECK_MESSAGE(source.path == "core/array.hpp", place(source, line), ": include <xtape/core/array.hpp>");
  });
}

TEST_CASE("BLAS and vector instructions stand in core/kernels only") {
  const std::set<std::string> kernels = {"core/kernels", "bench"};  // the benchmark measures the registers themselves
  allow_only_in(R"(#include\s*[<"](cblas|lapacke|xtensor-blas|immintrin|x86intrin|xsimd|dnnl|oneapi))", kernels,
                "products and vector code belong to core/kernels");
  allow_only_in(R"(\bcblas_\w+\(|\b_mm\d*_\w+|\bvector_size\b|\bxt::linalg\b|\bxt::blas\b)", kernels,
                "products and vector code belong to core/kernels");
}

TEST_CASE("kernels know neither tensors nor tapes and throw nothing") {
  for (const Source& source : sources()) {
    if (source.module != "core/kernels") continue;
    // They check what the user chose, before any kernel runs.
    if (source.path.starts_with("core/threads") || source.path.starts_with("core/kernels/gemm_backend")) continue;
    for (std::size_t i = 0; i < source.code.size(); ++i)
      for (const char* word : {"throw ", "Tensor ", "Tensor&", "Tape::"})
        CHECK_MESSAGE(source.code[i].find(word) == std::string::npos, place(source, i + 1), ": ", word, "in a kernel");
  }
}

TEST_CASE("ops are recorded in core/ops only") {
  for_matches(R"(\bTape::record\()", [&](const Source& source, std::size_t line, const std::smatch&) {
    const bool allowed =
        source.path.starts_with("core/ops/") || source.path == "core/gradcheck.cpp" || source.module == "tests";
    CHECK_MESSAGE(allowed, place(source, line), ": a rule belongs beside its forward pass in core/ops");
  });
}

TEST_CASE("expressions of xtensor are evaluated at once") {
  for_matches(R"(\bxt::keep_dims\b)", [&](const Source& source, std::size_t line, const std::smatch&) {
    CHECK_MESSAGE(source.code[line - 1].find("immediate") != std::string::npos, place(source, line),
                  ": a lazy reducer reads the wrong elements inside a larger expression");
  });
  allow_nowhere(R"(\bnoalias\()", "it writes while it reads");
  allow_nowhere(R"(\bauto[&*]*\s+\w+\s*=\s*(?:-|\()?xt::)",
                "an expression keeps references to its operands; name the array type");
}

TEST_CASE("numbers are written and read the same in every locale") {
  for_matches(
      R"re(\b(std::)?(stod|stof|strtod|strtof|atof|sscanf|ostringstream|stringstream|istringstream|setprecision)\b|\bs?n?printf\(.*%[-+0-9.]*[efgEFG])re",
      [&](const Source& source, std::size_t line, const std::smatch& match) {
        CHECK_MESSAGE(!in_library(source), place(source, line), ": ", match.str(), ": use core/number_text.hpp");
      });
}

TEST_CASE("files are opened and written in one place, which keeps the standard streams free") {
  const std::set<std::string> allowed = {"data/files.cpp", "inspect/log/console.cpp"};
  for_matches(R"(\bofstream\b|\bfopen\(|(^|[^\w.])(::)?open(at)?\(|\bcreat\(|\bmkstemp\()",
              [&](const Source& source, std::size_t line, const std::smatch& match) {
                const bool free = source.module == "tests" || source.module == "bench" || allowed.contains(source.path);
                CHECK_MESSAGE(free, place(source, line), ": ", match.str(), ": use open_file or write_file");
              });
}

TEST_CASE("comparisons in tests have explicit limits") {
  allow_nowhere(R"(\bApprox\b)", "use check_near with limits: doctest's accepts 1e-8 for 0");
}

TEST_CASE("no unsafe floating-point mathematics") {
  for (const char* name : {"CMakeLists.txt", "CMakePresets.json", "cmake/XtapeLibrary.cmake", "tests/CMakeLists.txt"}) {
    std::ostringstream text;
    text << std::ifstream(fs::path(XTAPE_SOURCE_DIR) / name).rdbuf();
    CHECK_MESSAGE(text.str().size() > 0, name);
    for (const char* flag : {"-ffast-math", "-Ofast", "-funsafe-math", "-fassociative-math", "-ffinite-math"})
      CHECK_MESSAGE(text.str().find(flag) == std::string::npos, name, " has ", flag);
  }
}

TEST_CASE("headers are guarded and files are short") {
  for (const Source& source : sources()) {
    if (source.header() && source.path != "core/kernels/isa/math.hpp" && source.path != "core/kernels/isa/lanes.hpp" &&
        source.path != "core/kernels/isa/registers.hpp" && source.path != "core/kernels/isa/store.hpp")
      CHECK_MESSAGE(std::count(source.lines.begin(), source.lines.end(), "#pragma once") == 1, source.path);
    if (source.module != "tests") CHECK_MESSAGE(source.lines.size() <= 400, source.path, " has more than 400 lines");
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
