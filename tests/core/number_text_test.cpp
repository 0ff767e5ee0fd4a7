// Numbers as text, written and read the same in every locale.
#include <xtape/core/number_text.hpp>
#include <xtape/data/json.hpp>

#include "support.hpp"

#include <cstdint>
#include <cstdio>

using namespace xtape;
using namespace xtape::test;

TEST_CASE("every double and float comes back from its text") {
  std::uint64_t bits = 1;
  for (int i = 0; i < 2000; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    const auto x = std::bit_cast<double>(bits);
    const auto y = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32));
    if (std::isfinite(x)) CHECK(read_number(number_text(x)) == x);
    if (std::isfinite(y)) CHECK(static_cast<float>(*read_number(number_text(y))) == y);
  }
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(0.1f) == "0.1");
  CHECK(number_text(1e-9) == "1e-09");
  CHECK(number_text(-0.0) == "-0");
  for (const double x : {kNaN, kInf, -kInf}) {
    const std::optional<double> back = read_number(number_text(x));
    REQUIRE(back);
    check_near(*back, x, {0, 0});
  }
  CHECK(number_text(-kInf) == "-Inf");
}

TEST_CASE("numbers in a format are those of printf") {
  const ClassicNumbers classic;  // for printf
  for (const double x :
       {0.0, -0.0, 1.0, -2.5, 31.622776601683793, 1e-5, 123456.0, 1e300, 5e-324, 1.7976931348623157e308})
    for (const char* format : {"%.9g", "%.3g", "%.4f", "%.0f", "%.2e", "%12.4g", "%.0f %%", "%.1f s"}) {
      char want[512];
      std::snprintf(want, sizeof want, format, x);
      CHECK(number_text(x, format) == want);
    }
  CHECK(number_text(kNaN, "%6.2f") == "   NaN");
}

TEST_CASE("a number is read as a whole, with or without a plus sign, and too small a one is 0") {
  const std::pair<const char*, double> good[] = {{"1", 1},
                                                 {"+1", 1},
                                                 {"-1", -1},
                                                 {"+.5", 0.5},
                                                 {"1e-400", 0},
                                                 {"-1e-400", 0},
                                                 {"+1e-400", 0},
                                                 {"0.0001e-330", 0},
                                                 {"1e-99999999999999999999", 0},
                                                 {"5e-324", 5e-324},
                                                 {"1E+3", 1000},
                                                 {"1e308", 1e308},
                                                 {"0.00001e309", 1e304},
                                                 {"1e-5", 1e-5}};
  for (const auto& [text, want] : good) {
    CAPTURE(text);
    const std::optional<double> got = read_number(text);
    REQUIRE(got);
    check_near(*got, want, {0, 0});
  }
  CHECK(std::signbit(*read_number("-1e-400")));
  const std::string small = "0." + std::string(400, '0') + "1", large = "1" + std::string(400, '0');
  CHECK(read_number(small) == 0);
  CHECK(!read_number(large));
  for (const char* text :
       {"", "+", "++1", "+-1", "-+1", " 1", "1 ", "1,5", "1.5x", "0x10", "1e400", "-1e400", "1e", "one"}) {
    CAPTURE(text);
    CHECK(!read_number(text));
  }
}

TEST_CASE("a whole number is read as a whole, with or without a plus sign") {
  CHECK(read_integer<std::int64_t>("+12") == 12);
  CHECK(read_integer<std::int64_t>("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(read_integer<std::uint64_t>("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  for (const char* text : {"", "+", "+-1", "1.0", "9223372036854775808", "1e3", " 1"}) {
    CAPTURE(text);
    CHECK(!read_integer<std::int64_t>(text));
  }
  CHECK(!read_integer<int>("4294967296"));
}
