// The op target without a fuzzer: random choices, the same in every run.
#include "fuzz/ops/check.hpp"
#include "fuzz/fuzz.hpp"
#include "support.hpp"

#include <xtape/core/random.hpp>

#ifdef XTAPE_DOUBLE  // the references are in double

namespace xtape::fuzz {

void fault(const std::string& what) { throw std::logic_error(what); }

}  // namespace xtape::fuzz

using namespace xtape;
using namespace xtape::fuzz;

TEST_CASE("ops of random shapes and axes give the right answer or a typed error") {
  constexpr void (*kFamilies[])(Choices&) = {try_elementwise, try_reduction,  try_shape,   try_product,
                                             try_selection,   try_normalized, try_sequence};
  for (std::uint64_t input = 0; input < 7000; ++input) {
    Random random(input, "ops_test");
    std::string bytes;
    for (int i = 0; i < 40; ++i) bytes += static_cast<char>(random.below(256));
    Choices choices(bytes);
    try {
      kFamilies[input % 7](choices);
    } catch (const std::exception& error) {
      FAIL_CHECK("input " << input << ": " << std::string(error.what()));
    }
  }
}

#endif
