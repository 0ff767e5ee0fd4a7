// CSV tables, read strictly (RFC 4180). Every row must have the same number of fields; errors name the line.
#pragma once

#include <xtape/core/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xtape {

struct CsvOptions {
  bool header = true;  ///< the first row holds the column names
  char separator = ',';
};

/// A table in memory. Rows end with LF or CRLF, which the last row may lack. A field in double quotes may hold
/// separators, line ends and doubled quotes. Spaces belong to the field. A byte order mark at the start is skipped.
class CsvTable {
 public:
  /// Throws FileError "name:line: what" for a blank line, a row with another number of fields than the first, a quote
  /// inside an unquoted field, text after a quoted field, a quoted field without an end, a duplicate name in the
  /// header, and an empty table.
  CsvTable(std::string text, std::string name, const CsvOptions& options = {});
  CsvTable(CsvTable&&) = delete;  // the fields point into it

  index_t columns() const { return columns_; }
  index_t rows() const { return std::ssize(lines_); }  ///< without the header
  /// The index of a column. Throws FileError if there is no such name.
  index_t column(std::string_view name) const;
  /// Throws IndexError for a position outside the table.
  std::string_view field(index_t row, index_t column) const;
  /// Throws FileError, which names the line and the column, if the field is not exactly one finite decimal number.
  double number(index_t row, index_t column) const;
  /// All numbers of a column, by name or position.
  std::vector<double> numbers(index_t column) const;
  std::vector<double> numbers(std::string_view name) const { return numbers(column(name)); }
  /// Throws FileError if the field is not a whole number in low..high.
  std::int64_t integer(index_t row, index_t column, std::int64_t low, std::int64_t high) const;

  /// Throws FileError about a field: "name:line: column 3 (temperature): what".
  [[noreturn]] void fail(index_t row, index_t column, const std::string& what) const;

 private:
  class Reader;

  std::string name_, text_;
  std::vector<std::string_view> header_, fields_;  // fields row by row
  std::vector<std::size_t> lines_;                 // the line where each row begins
  index_t columns_ = 0;
};

/// Reads a file, gzip-compressed or not.
CsvTable load_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace xtape
