// Rules about the code that no compiler checks: what may be used where, and what nowhere.
#include "source_tree.hpp"
#include "support.hpp"

#include <set>
#include <sstream>

using namespace xtape;
using namespace xtape::test;

namespace {

/// Fails for every line that matches outside the modules that may.
void allow_only_in(const std::string& pattern, const std::set<std::string>& modules, const std::string& why) {
  for_matches(pattern, [&](const Source& source, std::size_t line, const std::smatch& match) {
    CHECK_MESSAGE(modules.contains(source.module), place(source, line), ": ", match.str(), ": ", why);
  });
}

void allow_nowhere(const std::string& pattern, const std::string& why) { allow_only_in(pattern, {}, why); }

}  // namespace

TEST_CASE("the file names of a run folder are constants") {
  for_matches(
      R"re("[^"]*\b(run\.json|metrics\.jsonl|grad_norms\.csv|events\.jsonl|tokens\.json|anomaly\.json|best\.safetensors|report\.html)\b)re",
      [&](const Source& source, std::size_t line, const std::smatch& match) {
        if (source.module != "inspect" && source.module != "train") return;
        CHECK_MESSAGE(source.path == "inspect/run/run_folder.hpp", place(source, line), ": ", match.str(1),
                      ": use the constant of inspect/run/run_folder.hpp");
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
    CHECK_MESSAGE(source.path == "core/array.hpp", place(source, line), ": include <xtape/core/shape.hpp>");
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
    const bool allowed = source.path.starts_with("core/ops/") || source.path == "inspect/measure/gradcheck.cpp" ||
                         source.module == "tests";
    CHECK_MESSAGE(allowed, place(source, line),
                  ": a backward function belongs beside its forward function in core/ops");
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
    text << std::ifstream(std::filesystem::path(XTAPE_SOURCE_DIR) / name).rdbuf();
    CHECK_MESSAGE(text.str().size() > 0, name);
    for (const char* flag : {"-ffast-math", "-Ofast", "-funsafe-math", "-fassociative-math", "-ffinite-math"})
      CHECK_MESSAGE(text.str().find(flag) == std::string::npos, name, " has ", flag);
  }
}
