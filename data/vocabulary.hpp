// The symbols a model reads and writes, and their numbers.
#pragma once

#include <xtape/core/array.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape {

/// A set of symbols numbered 0..V-1: either characters (Unicode code points, text in UTF-8) or the 256 byte values.
class Vocabulary {
 public:
  /// Every byte is a symbol and its own id: V = 256, any text can be encoded.
  static Vocabulary bytes();

  /// The distinct characters of `text`, by code point. Throws ValueError if it is empty or not UTF-8.
  static Vocabulary characters(std::string_view text);

  /// The characters of a text in UTF-8, in the order of their ids. Throws ValueError if there are none, one stands
  /// twice, or the text is not UTF-8.
  static Vocabulary from_symbols(std::string_view text);

  /// Reads {"character": id, ...}, ids 0..V-1 each once, from a JSON file. Throws FileError.
  static Vocabulary load(const std::string& path);

  /// Number of symbols V.
  index_t size() const { return static_cast<index_t>(symbols_.size()); }

  /// All symbols in the order of their ids; from_symbols(symbols()) gives the same vocabulary again.
  std::string symbols() const;

  /// Ids of the symbols of `text`, [N]. Throws ValueError on a symbol that is not in the vocabulary, with its position,
  /// and on text that is not UTF-8 in a vocabulary of characters.
  IndexArray encode(std::string_view text) const;

  /// Id of the symbol that starts at byte `position`, which moves past it. Throws as encode does.
  index_t next_id(std::string_view text, std::size_t& position) const;

  /// The symbols of ids of any shape, joined in row-major order. Throws IndexError for an id outside 0..V-1.
  std::string decode(const IndexArray& ids) const;
  std::string decode(std::span<const index_t> ids) const;

 private:
  Vocabulary(bool of_bytes, std::vector<char32_t> symbols);
  void append_symbol(std::string& out, char32_t symbol) const;

  bool of_bytes_;
  std::vector<char32_t> symbols_;                       // by id
  std::vector<std::pair<char32_t, index_t>> ids_ = {};  // of characters, ascending
};

}  // namespace xtape
