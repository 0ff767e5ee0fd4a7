// Runs the fuzz target of the ops without a fuzzer: random choices, the same in every run.
#include "coverage/sources.hpp"
#include "fuzz.hpp"
#include "fuzz/ops/check.hpp"
#include "support.hpp"

#include <xtape/core/random.hpp>

#ifdef XTAPE_DOUBLE  // the references are in double

namespace xtape::fuzz {

void fault(const std::string& what) { throw std::logic_error(what); }

}  // namespace xtape::fuzz

using namespace xtape;
using namespace xtape::fuzz;

TEST_CASE("ops of random shapes and axes give the correct result or a typed error, and every op is tried") {
  for (std::uint64_t input = 0; input < 12000; ++input) {
    Random random(input, "ops_test");
    std::string bytes;
    for (int i = 0; i < 60; ++i) bytes += static_cast<char>(random.below(256));
    Choices choices(bytes);
    try {
      kFamilies[input % std::size(kFamilies)](choices);
    } catch (const std::exception& error) {
      FAIL_CHECK("input " << input << ": " << std::string(error.what()));
    }
  }
  for (const std::string& op : test::recorded_op_names())
    CHECK_MESSAGE(tried().recorded.contains(op), "tests/fuzz/ops has no case that records ", op);
  for (const std::string& function : test::op_functions())
    CHECK_MESSAGE(tried().functions.contains(function), "tests/fuzz/ops has no case for ", function);
}

#endif
