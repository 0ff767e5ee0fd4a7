#include <xtape/core/error.hpp>
#include <xtape/inspect/run/description.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("what to do about trouble is parsed by name") {
  CHECK(parse_on_trouble("warn") == OnTrouble::warn);
  CHECK(parse_on_trouble("skip") == OnTrouble::skip);
  CHECK(parse_on_trouble("stop") == OnTrouble::stop);
  check_throws<ValueError>([] { parse_on_trouble("panic"); },
                           "[run_log] expected warn, skip or stop on trouble, got 'panic'");
}
