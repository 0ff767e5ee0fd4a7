// Vocabulary: the symbols that a model reads and writes, and their ids.
#pragma once

#include <xtape/core/shape.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xtape {

/// A set of symbols with ids 0..V-1: either characters (Unicode code points, text in UTF-8) or the 256 byte values.
class Vocabulary {
 public:
  /// The 256 bytes; each is its own id. Any text can be encoded.
  static Vocabulary bytes();

  /// The distinct characters of `text`, in order of code points. Throws ValueError if it is empty or not UTF-8.
  static Vocabulary characters(std::string_view text);

  /// The characters of a UTF-8 text, in order of their ids. Throws ValueError if the text is empty or not UTF-8, or a
  /// character occurs twice.
  static Vocabulary from_symbols(std::string_view text);

  /// Reads {"character": id, ...}, ids 0..V-1 each once, from a JSON file. Throws FileError.
  static Vocabulary load(const std::string& path);

  /// Number of symbols V.
  index_t size() const { return std::ssize(symbols_); }

  /// All symbols in order of their ids. from_symbols(symbols()) returns an equal vocabulary.
  std::string symbols() const;

  /// The ids [N] of the symbols of `text`. Throws ValueError, which gives the position, for a symbol that is not in the
  /// vocabulary, and for text that is not UTF-8 if the symbols are characters.
  IndexArray encode(std::string_view text) const;

  /// The id of the symbol at byte `position`, which is advanced. Throws as encode does.
  index_t next_id(std::string_view text, std::size_t& position) const;

  /// The symbols of ids of any shape, concatenated in row-major order. Throws IndexError for an id outside 0..V-1.
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
