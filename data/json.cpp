#include <xtape/data/json.hpp>
#include <xtape/data/utf8.hpp>

#include <locale.h>  // NOLINT(modernize-deprecated-headers): uselocale
#include <clocale>

namespace xtape {

ClassicNumbers::ClassicNumbers() {
  static const locale_t classic = ::newlocale(LC_ALL_MASK, "C", nullptr);
  before_ = ::uselocale(classic);
}

ClassicNumbers::~ClassicNumbers() { ::uselocale(static_cast<locale_t>(before_)); }

bool is_utf8(std::string_view text) { return find_invalid_utf8(text) == std::string_view::npos; }

std::string percent_encoded(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7F && c != '%') out += c;
    else ((out += '%') += digits[byte >> 4]) += digits[byte & 15];
  }
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1, low = high >= 0 ? digit(text[i + 2]) : -1;
    if (low < 0) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return out;
}

}  // namespace xtape
