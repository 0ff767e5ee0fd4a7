#include <xtape/inspect/run/statistics.hpp>

#include "support.hpp"

#include <limits>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("medians") {
  CHECK(median({3}) == 3);
  CHECK(median({5, 1, 3}) == 3);
  CHECK(median({5, 1, 3, 2}) == 2.5);
  CHECK(median({kNaN, 1, 2}) == 2);
  CHECK(median({kInf, kNaN, 2}) == kInf);
  CHECK(median({-1.5e308, -1.7e308}) == -1.6e308);  // their sum is infinite
  CHECK(std::isnan(median({kNaN, kNaN, 2})));
  check_throws<ValueError>([] { median({}); }, "[median] expected at least 1 value, got 0");
}
