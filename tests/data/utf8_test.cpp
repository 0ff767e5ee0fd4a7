#include <xtape/data/utf8.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

TEST_CASE("UTF-8 code points are read and written back") {
  std::string text;
  const char32_t points[] = {0, 'a', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
  for (char32_t point : points) append_code_point(text, point);
  CHECK(text.size() == 3 * 1 + 2 * 2 + 4 * 3 + 2 * 4);
  CHECK(find_invalid_utf8(text) == std::string_view::npos);
  CHECK(count_code_points(text) == std::size(points));
  std::size_t position = 0;
  for (char32_t point : points) CHECK(next_code_point(text, position) == point);
  CHECK(position == text.size());
}

TEST_CASE("malformed UTF-8 is found where it stands") {
  const std::string malformed[] = {"\x80",          // a tail byte without its lead
                                   "\xC3",          // cut short
                                   "\xE2\x82",      // cut short after two of three
                                   "\xF0\x9F\x98",  // cut short after three of four
                                   "\xC3"
                                   "a",                 // a lead byte without its tail
                                   "\xC0\xAF",          // overlong
                                   "\xE0\x80\xAF",      // overlong
                                   "\xF0\x80\x80\xAF",  // overlong
                                   "\xED\xA0\x80",      // a surrogate
                                   "\xF4\x90\x80\x80",  // above U+10FFFF
                                   "\xF5\x80\x80\x80",
                                   "\xFF"};
  for (const std::string& bytes : malformed) {
    CAPTURE(bytes);
    CHECK(find_invalid_utf8("ok\xC3\xA9" + bytes) == 4);
  }
  std::size_t position = 2;
  check_throws<ValueError>([&] { next_code_point("ab\xFFz", position); }, "[utf8] byte 2 (0xFF) is not valid UTF-8");
  CHECK(position == 2);
}
