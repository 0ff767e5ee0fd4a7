// Strict UTF-8: text that is not well-formed is rejected, never replaced.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace xtape {

/// Position of the first byte that is not part of well-formed UTF-8 (Unicode 15, table 3-7: no overlong forms, no
/// surrogates, nothing above U+10FFFF), or std::string_view::npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);

/// The text after a byte order mark, if it begins with one: the mark is no character of a text.
std::string_view without_byte_order_mark(std::string_view text);

/// The words between ASCII spaces and line ends.
std::vector<std::string_view> words_between_spaces(std::string_view text);

/// Decodes the code point at byte `position` and advances `position`. Throws ValueError if the text is not UTF-8 there.
char32_t next_code_point(std::string_view text, std::size_t& position);

/// The number of code points in well-formed text.
std::size_t count_code_points(std::string_view text);

/// Appends a code point to `out`.
void append_code_point(std::string& out, char32_t code_point);

}  // namespace xtape
