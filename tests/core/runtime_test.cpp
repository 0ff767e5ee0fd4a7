// What the process says that it computes with.
#include <xtape/core/runtime.hpp>

#include "support.hpp"

#include <string>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("the runtime names the dtype, the instruction set and the library of products") {
  CHECK(std::string(dtype_name()) == (kDouble ? "f64" : "f32"));
  const std::string isa = isa_name();
  CHECK((isa == "plain" || isa == "v3" || isa == "v4"));
  CHECK_FALSE(std::string(gemm_library()).empty());
}
