// Reading and writing UTF-8, strictly: what is not well-formed is refused, never replaced.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xtape {

/// Position of the first byte that does not belong to well-formed UTF-8 (Unicode 15, table 3-7: no overlong forms, no
/// surrogates, nothing above U+10FFFF), or std::string_view::npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);

/// The code point that starts at byte `position`, which moves past it. Throws ValueError where the text is not UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& position);

/// Number of code points in well-formed text.
std::size_t count_code_points(std::string_view text);

/// Appends one code point to `out`.
void append_code_point(std::string& out, char32_t code_point);

}  // namespace xtape
