// Runs every table of gradient checks, in double, with every variant of each case.
#include "gradients/cases.hpp"
#include "support.hpp"

#include <cstdio>

#ifdef XTAPE_DOUBLE
using namespace xtape;
using namespace xtape::test;

namespace {

constexpr double kLimit = 1e-7;

double worst_of_all = 0;

void check_case(const GradCase& entry, const char* variant, const GradCheckOptions& options) {
  const GradCheckResult result = gradcheck(entry.function, entry.inputs, options);
  INFO(entry.op, " / ", entry.title, " / ", variant, " / ", result.where);
  CHECK(result.worst < kLimit);
  worst_of_all = std::max(worst_of_all, result.worst);
}

}  // namespace

TEST_CASE("the gradients of every op agree with central differences") {
  for (const GradCase& entry : all_grad_cases()) {
    check_case(entry, "as it is", {});
    check_case(entry, "used twice", {.seed = 7, .twice = true});
    for (std::size_t i = 0; i < entry.inputs.size() && entry.inputs.size() > 1; ++i) {
      GradCheckOptions one_constant;
      one_constant.constant.assign(entry.inputs.size(), false);
      one_constant.constant[i] = true;
      check_case(entry, "one input untracked", one_constant);
    }
    const bool shareable = entry.inputs.size() > 1 && entry.inputs[0].shape() == entry.inputs[1].shape();
    if (shareable) check_case(entry, "one tensor as several inputs", {.share = true});
  }
  std::printf("gradient checks: worst error %.2e\n", worst_of_all);
}
#endif
