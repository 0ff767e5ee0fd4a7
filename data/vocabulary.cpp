#include <xtape/core/error.hpp>
#include <xtape/data/utf8.hpp>
#include <xtape/data/vocabulary.hpp>

#include <algorithm>
#include <cstdio>

namespace xtape {

namespace {

std::string named(char32_t symbol) {
  char code[16];
  std::snprintf(code, sizeof code, "U+%04X", static_cast<unsigned>(symbol));
  if (symbol < 0x20 || (symbol >= 0x7F && symbol < 0xA0)) return code;  // a control character would break the line
  std::string text = "'";
  append_code_point(text, symbol);
  return text + "' (" + code + ")";
}

}  // namespace

Vocabulary Vocabulary::bytes() {
  Vocabulary vocabulary(true);
  for (char32_t byte = 0; byte < 256; ++byte) vocabulary.symbols_.push_back(byte);
  return vocabulary;
}

Vocabulary Vocabulary::characters(std::string_view text) {
  if (text.empty()) throw ValueError("vocabulary", "a vocabulary needs at least one character");
  std::vector<bool> seen(0x110000);
  for (std::size_t position = 0; position < text.size();) seen[next_code_point(text, position)] = true;
  Vocabulary vocabulary(false);
  for (char32_t c = 0; c < seen.size(); ++c)
    if (seen[c]) vocabulary.symbols_.push_back(c);
  return vocabulary;
}

std::string Vocabulary::symbols() const {
  std::string out;
  for (char32_t symbol : symbols_) append_symbol(out, symbol);
  return out;
}

index_t Vocabulary::next_id(std::string_view text, std::size_t& position) const {
  if (of_bytes_) return static_cast<unsigned char>(text[position++]);
  const std::size_t start = position;
  const char32_t symbol = next_code_point(text, position);
  const auto found = std::lower_bound(symbols_.begin(), symbols_.end(), symbol);
  if (found == symbols_.end() || *found != symbol)
    throw ValueError("vocabulary", named(symbol) + " at position " +
                                       std::to_string(count_code_points(text.substr(0, start))) +
                                       " is not one of the " + std::to_string(size()) + " known characters");
  return found - symbols_.begin();
}

IndexArray Vocabulary::encode(std::string_view text) const {
  std::vector<index_t> ids;
  for (std::size_t position = 0; position < text.size();) ids.push_back(next_id(text, position));
  IndexArray out(Shape{ids.size()});
  std::copy(ids.begin(), ids.end(), out.data());
  return out;
}

std::string Vocabulary::decode(const IndexArray& ids) const { return decode(std::span(ids.data(), ids.size())); }

std::string Vocabulary::decode(std::span<const index_t> ids) const {
  std::string out;
  for (index_t id : ids) {
    if (id < 0 || id >= size())
      throw IndexError("vocabulary", "there is no symbol " + std::to_string(id) + " among " + std::to_string(size()));
    append_symbol(out, symbols_[static_cast<std::size_t>(id)]);
  }
  return out;
}

void Vocabulary::append_symbol(std::string& out, char32_t symbol) const {
  if (of_bytes_) out += static_cast<char>(symbol);
  else append_code_point(out, symbol);
}

}  // namespace xtape
