// What the process says that it computes with.
#include <xtape/core/runtime.hpp>

#include "child_process.hpp"
#include "support.hpp"

#include <filesystem>
#include <string>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("the runtime names the dtype, the instruction set and the library of products") {
  CHECK(std::string(dtype_name()) == (kDouble ? "f64" : "f32"));
  const std::string isa = isa_name();
  CHECK((isa == "plain" || isa == "v3" || isa == "v4"));
  CHECK_FALSE(std::string(gemm_library()).empty());
}

// Only in a process of its own, as the library of products is chosen once.
TEST_CASE("a wrong XTAPE_GEMM: the first tensor throws" * doctest::skip()) {
  check_throws<ValueError>(
      [] {
        const Tensor x = Tensor::ones({2, 2, 64, 8});
        scaled_dot_product_attention(x, x, x);
      },
      "[gemm] expected xtape, openblas or onednn in the environment variable XTAPE_GEMM, got 'mkl'");
}

TEST_CASE("a wrong XTAPE_GEMM is told before a product runs in a task, which cannot throw") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const Finished result = run("/usr/bin/env", {"XTAPE_GEMM=mkl", "OMP_NUM_THREADS=2", self, "--no-skip",
                                               "--test-case=a wrong XTAPE_GEMM: the first tensor throws"});
  INFO(result.out, result.err);
  CHECK(result.code == 0);
}
