#include <xtape/inspect/run/machine.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("facts about the machine are not empty") {
  CHECK(version().find('.') != std::string::npos);
  CHECK(compiler().find(' ') != std::string::npos);
  CHECK(cpu_name() != "");
  CHECK(resident_bytes() > 1 << 20);
  CHECK(utc_time("%Y").starts_with("20"));
}
