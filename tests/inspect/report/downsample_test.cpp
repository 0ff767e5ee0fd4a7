// Bucketing keeps every extreme, the encoding keeps the numbers, and text is readable and harmless.
#include <xtape/inspect/report/downsample.hpp>
#include <xtape/inspect/report/text_format.hpp>

#include "support.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

using namespace xtape;
using namespace xtape::test;
using nlohmann::json;

namespace {

std::vector<StepRecord> steps_at(const std::vector<index_t>& numbers) {
  std::vector<StepRecord> steps;
  for (index_t n : numbers) steps.emplace_back().step = n;
  return steps;
}

std::vector<index_t> every(index_t distance, index_t end) {
  std::vector<index_t> out;
  for (index_t i = 0; i < end; i += distance) out.push_back(i);
  return out;
}

}  // namespace

TEST_CASE("buckets are as wide as the interval while they are at most 240, then a multiple of it") {
  const Buckets few(steps_at(every(50, 3000)));
  CHECK(few.count() == 60);
  CHECK(few.width() == 50);
  CHECK(few.center() == 0);
  CHECK(few.of(2950) == 59);
  CHECK(few.of(2999) == 59);
  const Buckets many(steps_at(every(1, 10'000)));
  CHECK(many.count() == 239);
  CHECK(many.width() == 42);
  CHECK(many.center() == 20.5);
  CHECK(many.first()[1] == 42);
  CHECK(many.last()[1] == 83);
  CHECK(many.logged()[1] == 42);
  const Buckets odd(steps_at({0, 10, 20, 25, 30, 40, 41}));  // a validation step and the last one
  CHECK(odd.width() == 10);
  CHECK(odd.count() == 5);
  CHECK(odd.logged() == std::vector<index_t>{1, 1, 2, 1, 2});
  CHECK(Buckets(steps_at({7})).count() == 1);
  CHECK(Buckets(steps_at({})).count() == 0);
}

TEST_CASE("a bucket keeps the least, the middle and the greatest of its values and counts what is not finite") {
  const std::vector<StepRecord> steps = steps_at(every(1, 480));
  const Buckets buckets(steps);
  REQUIRE(buckets.width() == 2);
  EnvelopeBuilder maker(buckets, 1);
  for (const StepRecord& s : steps)
    maker.add(0, s.step, s.step == 101 ? 1e6 : s.step == 102 ? NAN : s.step == 202 || s.step == 203 ? INFINITY : 1);
  maker.add(0, 300, 5, 2, 9);
  const Envelope bands = maker.bands();
  CHECK(bands.buckets == 240);
  CHECK(bands.high[50] == 1e6);
  CHECK(bands.low[50] == 1);
  CHECK(bands.broken[51] == 1);
  CHECK(bands.middle[51] == 1);
  CHECK(std::isinf(bands.middle[101]));
  CHECK(bands.broken[101] == 2);
  CHECK(bands.high[150] == 9);
  CHECK(bands.low[150] == 1);
  CHECK(*std::max_element(bands.broken.begin(), bands.broken.end()) == 2);
}

TEST_CASE("more than 128 rows share cells, and none is lost") {
  const std::vector<StepRecord> steps = steps_at({0});
  const Buckets buckets(steps);
  EnvelopeBuilder maker(buckets, 300);
  for (std::size_t r = 0; r < 300; ++r) maker.add(r, 0, static_cast<double>(r));
  const Envelope bands = maker.bands();
  CHECK(bands.rows == 128);
  std::size_t next = 0;
  for (std::size_t r = 0; r < 128; ++r) {
    CHECK(maker.first_of(r) == next);
    CHECK(bands.low[r] == static_cast<double>(next));
    CHECK(bands.high[r] == static_cast<double>(maker.last_of(r)));
    next = maker.last_of(r) + 1;
  }
  CHECK(next == 300);
}

TEST_CASE("base64 is that of RFC 4648, section 10") {
  for (const auto& [text, code] : std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                                                   {"f", "Zg=="},
                                                                                   {"fo", "Zm8="},
                                                                                   {"foo", "Zm9v"},
                                                                                   {"foob", "Zm9vYg=="},
                                                                                   {"fooba", "Zm9vYmE="},
                                                                                   {"foobar", "Zm9vYmFy"}})
    CHECK(base64(text) == code);
}

TEST_CASE("bands are written as floats, or as 16 bits of their own range of decades") {
  Envelope one{.rows = 1, .buckets = 2, .low = {1, 2}, .middle = {1, 2}, .high = {1, 2}, .broken = {0, 0}};
  json text = json::parse(envelope_json(one));
  CHECK(text["middle"] == base64(std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
  CHECK(!text.contains("low"));
  CHECK(!text.contains("broken"));
  Envelope many{.rows = 20, .buckets = 1};
  for (int i = 0; i < 20; ++i) many.middle.push_back(std::pow(10, -i));
  many.middle[1] = 0;
  many.middle[2] = INFINITY;
  many.middle[3] = NAN;
  many.low = many.high = many.middle;
  many.broken.assign(20, 0);
  many.broken[2] = 1;
  text = json::parse(envelope_json(many));
  CHECK(std::abs(text["from"].get<double>() - (-19)) < 1e-9);
  CHECK(std::abs(text["decades"].get<double>() * 65530 - (19)) < 1e-9);
  CHECK(text["middle"].get<std::string>().substr(0, 10) ==
        base64(std::string("\xfa\xff\xfd\xff\xfe\xff\xff\xff", 8)).substr(0, 10));
  CHECK(text.contains("broken"));
}

TEST_CASE("text is readable: powers of ten, groups of digits, percent, links to steps") {
  CHECK(readable("ratio 2.9e-05 of 1e+06") == "ratio 2.9·10⁻⁵ of 10⁶");
  CHECK(readable("1.1e-3, e-mail, 5e, 0.1 %") == "1.1·10⁻³, e-mail, 5e, 0.1\u00a0%");
  CHECK(grouped_digits(1312) == "1\u202f312");
  CHECK(grouped_digits(12) == "12");
  CHECK(grouped_digits(1234567) == "1\u202f234\u202f567");
  CHECK(html_with_steps("at step 1312, <b>") == "at <a href=\"#step=1312\">step\u00a01\u202f312</a>, &lt;b&gt;");
  CHECK(html_escaped("<a href=\"x\">&'\n") == "&lt;a href=&quot;x&quot;&gt;&amp;' ");
  CHECK(duration_words(71) == "71 s");
  CHECK(duration_words(240) == "4 min");
  CHECK(duration_words(7300) == "2 h 1 min");
}
