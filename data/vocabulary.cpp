#include <xtape/core/error.hpp>
#include <xtape/data/files.hpp>
#include <xtape/data/json.hpp>
#include <xtape/data/utf8.hpp>
#include <xtape/data/vocabulary.hpp>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

namespace xtape {

namespace {

std::string named(char32_t symbol) {
  char code[16];
  std::snprintf(code, sizeof code, "U+%04X", static_cast<unsigned>(symbol));
  if (symbol < 0x20 || (symbol >= 0x7F && symbol < 0xA0)) return code;  // do not print control characters
  std::string text = "'";
  append_code_point(text, symbol);
  return text + "' (" + code + ")";
}

}  // namespace

Vocabulary::Vocabulary(bool of_bytes, std::vector<char32_t> symbols)
    : of_bytes_(of_bytes), symbols_(std::move(symbols)) {
  if (symbols_.empty()) throw ValueError("vocabulary", "at least 1 character", 0);
  for (char32_t symbol : symbols_) ids_.emplace_back(symbol, std::ssize(ids_));
  std::sort(ids_.begin(), ids_.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (const auto twice = std::adjacent_find(ids_.begin(), ids_.end(), same); twice != ids_.end())
    throw ValueError("vocabulary", named(twice->first) + " stands twice");
}

Vocabulary Vocabulary::bytes() {
  std::vector<char32_t> all(256);
  std::iota(all.begin(), all.end(), 0);
  return {true, all};
}

Vocabulary Vocabulary::characters(std::string_view text) {
  std::vector<bool> seen(0x110000);
  for (std::size_t position = 0; position < text.size();) seen[next_code_point(text, position)] = true;
  std::vector<char32_t> all;
  for (char32_t c = 0; c < seen.size(); ++c)
    if (seen[c]) all.push_back(c);
  return {false, all};
}

Vocabulary Vocabulary::from_symbols(std::string_view text) {
  std::vector<char32_t> all;
  for (std::size_t position = 0; position < text.size();) all.push_back(next_code_point(text, position));
  return {false, all};
}

Vocabulary Vocabulary::load(const std::string& path) {
  const auto fail = [&path](const std::string& what) { throw FileError("vocabulary", path + ": " + what); };
  const auto json = parse_json<nlohmann::json>(read_file(path));
  if (!json.is_object() || json.empty()) fail("this is not a JSON object of characters and ids");
  std::vector<std::optional<char32_t>> by_id(json.size());
  for (const auto& [text, id] : json.items()) {
    std::size_t position = 0;
    const char32_t symbol = text.empty() ? 0 : next_code_point(text, position);
    if (text.empty() || position != text.size()) fail("'" + text + "' is not one character");
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= by_id.size())
      fail(expected_got("an id of " + named(symbol) + " in 0.." + std::to_string(by_id.size() - 1), id.dump()));
    if (std::exchange(by_id[id.get<std::size_t>()], symbol)) fail("the id " + id.dump() + " stands twice");
  }
  std::vector<char32_t> all;
  for (const auto& symbol : by_id) all.push_back(*symbol);
  return {false, all};
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
  const auto found = std::lower_bound(ids_.begin(), ids_.end(), std::pair<char32_t, index_t>(symbol, 0));
  if (found == ids_.end() || found->first != symbol)
    throw ValueError("vocabulary", "one of the " + std::to_string(size()) + " known characters",
                     named(symbol) + " at position " + std::to_string(count_code_points(text.substr(0, start))));
  return found->second;
}

IndexArray Vocabulary::encode(std::string_view text) const {
  std::vector<index_t> ids;
  for (std::size_t position = 0; position < text.size();) ids.push_back(next_id(text, position));
  IndexArray out = empty_array<IndexArray>({std::ssize(ids)});
  std::copy(ids.begin(), ids.end(), out.data());
  return out;
}

std::string Vocabulary::decode(const IndexArray& ids) const { return decode(std::span(ids.data(), ids.size())); }

std::string Vocabulary::decode(std::span<const index_t> ids) const {
  std::string out;
  for (index_t id : ids) {
    check_index("vocabulary", "ids", id, 0, size() - 1);
    append_symbol(out, symbols_[id]);
  }
  return out;
}

void Vocabulary::append_symbol(std::string& out, char32_t symbol) const {
  if (of_bytes_) out += static_cast<char>(symbol);
  else append_code_point(out, symbol);
}

}  // namespace xtape
