// Numbers as text, written and read the same in every locale.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace xtape {

/// The shortest text that reads back as the same number, or "NaN", "Inf", "-Inf".
std::string number_text(double value);
std::string number_text(float value);

/// The number in one of printf's formats for a double with a precision, such as "%.3g", "%10.4f" or "%.2e %%", or
/// "NaN", "Inf", "-Inf" in its place.
std::string number_text(double value, std::string_view format);

/// Reads a text that is one decimal number as a whole; nothing if it is not. A plus sign may stand before it. A number
/// nearer to 0 than the smallest double is 0; one beyond the largest is not a number. NaN and infinity are read by
/// name, so a caller that wants a finite number asks for it.
std::optional<double> read_number(std::string_view text);

/// Reads a text that is one whole number that fits into T, with or without a plus sign before it.
template <std::integral T>
std::optional<T> read_integer(std::string_view text);

}  // namespace xtape
