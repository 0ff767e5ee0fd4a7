#include <xtape/core/error.hpp>
#include <xtape/data/utf8.hpp>

#include <algorithm>

namespace xtape {

namespace {

struct Decoded {
  char32_t code_point = 0;
  std::size_t bytes = 0;  // 0 if the text is not well-formed
};

Decoded decode_at(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - position < bytes) return {};
  char32_t code_point = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3Fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kSmallest[bytes] || code_point > 0x10FFFF || surrogate) return {};
  return {code_point, bytes};
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    const Decoded decoded = decode_at(text, position);
    if (decoded.bytes == 0) return position;
    position += decoded.bytes;
  }
  return std::string_view::npos;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.substr(text.starts_with(kMark) ? kMark.size() : 0);
}

std::vector<std::string_view> words_between_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\r\f\v";
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(kSpaces, begin)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpaces, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

char32_t next_code_point(std::string_view text, std::size_t& position) {
  const Decoded decoded = decode_at(text, position);
  if (decoded.bytes == 0) {
    const auto byte = static_cast<unsigned char>(text[position]);
    const std::string hex = {"0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
    throw ValueError("utf8", "byte " + std::to_string(position) + " (0x" + hex + ") is not valid UTF-8");
  }
  position += decoded.bytes;
  return decoded.code_point;
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void append_code_point(std::string& out, char32_t code_point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0 | code_point >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | code_point >> 18);
    tail(12), tail(6), tail(0);
  }
}

}  // namespace xtape
