#include <xtape/core/number_text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace xtape {

namespace {

const char* name_of(double value) { return std::isnan(value) ? "NaN" : value > 0 ? "Inf" : "-Inf"; }

template <class T>
std::string shortest(T value) {
  if (!std::isfinite(value)) return name_of(static_cast<double>(value));
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// The text without one plus sign before a digit or a point.
std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return text.substr(plus ? 1 : 0);
}

/// Whether a decimal number is below 1 in magnitude: where its first digit stands, moved by its exponent.
bool is_small(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, mark);
  std::int64_t exponent = 0;
  if (mark < text.size()) {
    const std::string_view written = without_plus(text.substr(mark + 1));
    if (std::from_chars(written.data(), written.data() + written.size(), exponent).ec != std::errc())
      return written.starts_with('-');  // beyond any count of digits
  }
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<std::int64_t>(digits.find_first_of("123456789"));
  return exponent < first - point + (first < point);
}

template <class T>
std::optional<T> whole(std::string_view text) {
  text = without_plus(text);
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (stopped != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc()) return value;
  if constexpr (std::is_floating_point_v<T>)
    if (is_small(text)) return text.starts_with('-') ? -T{0} : T{0};
  return std::nullopt;
}

}  // namespace

std::string number_text(double value) { return shortest(value); }
std::string number_text(float value) { return shortest(value); }

std::string number_text(double value, std::string_view format) {
  int width = 0, precision = 6;
  const std::size_t point = std::min(format.find('.'), format.size() - 1);
  std::from_chars(format.data() + 1, format.data() + point, width);
  const auto [letter, error] = std::from_chars(format.data() + point + 1, format.data() + format.size(), precision);
  const std::chars_format style = *letter == 'f'   ? std::chars_format::fixed
                                  : *letter == 'e' ? std::chars_format::scientific
                                                   : std::chars_format::general;
  char text[1024];  // 309 digits before the point at most
  std::string out = name_of(value);
  if (std::isfinite(value)) out.assign(text, std::to_chars(text, text + sizeof text, value, style, precision).ptr);
  out.insert(0, std::max<std::size_t>(static_cast<std::size_t>(width), out.size()) - out.size(), ' ');
  for (const char* tail = letter + 1; tail < format.data() + format.size(); ++tail) {
    out += *tail;
    tail += *tail == '%';  // "%%"
  }
  return out;
}

std::optional<double> read_number(std::string_view text) { return whole<double>(text); }

template <std::integral T>
std::optional<T> read_integer(std::string_view text) {
  return whole<T>(text);
}
template std::optional<int> read_integer(std::string_view);
template std::optional<std::int64_t> read_integer(std::string_view);
template std::optional<std::uint64_t> read_integer(std::string_view);

}  // namespace xtape
