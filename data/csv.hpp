// Tables in CSV, read strictly (RFC 4180): the same number of fields in every row, or an error with the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xtape {

struct CsvOptions {
  bool header = true;  ///< the first row has the names of the columns
  char separator = ',';
};

/// A whole table in memory. Rows end with LF or CRLF; the last may lack it. A field in double quotes may hold
/// separators, line ends and doubled quotes. Spaces belong to a field. A byte order mark at the start is skipped.
class CsvTable {
 public:
  /// Throws FileError "name:line: what" for a blank line, another number of fields than in the first row, a quote
  /// inside an unquoted field or text after a quoted one, a quoted field without an end, a name that stands twice in
  /// the header; and for a table without columns.
  CsvTable(std::string text, std::string name, const CsvOptions& options = {});
  CsvTable(CsvTable&&) = delete;  // the fields point into it

  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return lines_.size(); }  ///< without the header
  /// Throws FileError if there is none of that name.
  std::size_t column(std::string_view name) const;
  /// Throws IndexError outside the table.
  std::string_view field(std::size_t row, std::size_t column) const;
  /// Throws FileError naming line and column of a field that is not a finite decimal number and nothing else.
  double number(std::size_t row, std::size_t column) const;
  /// Of a whole column, by its name or position.
  std::vector<double> numbers(std::size_t column) const;
  std::vector<double> numbers(std::string_view name) const { return numbers(column(name)); }
  /// Throws FileError for a field that is not a whole number within low..high.
  std::int64_t integer(std::size_t row, std::size_t column, std::int64_t low, std::int64_t high) const;

  /// Throws FileError about a field: "name:line: column 3 (temperature): what".
  [[noreturn]] void fail(std::size_t row, std::size_t column, const std::string& what) const;

 private:
  class Reader;

  std::string name_, text_;
  std::vector<std::string_view> header_, fields_;  // fields row by row
  std::vector<std::size_t> lines_;                 // number of the line where each row begins
  std::size_t columns_ = 0;
};

/// Reads a file, packed with gzip or not.
CsvTable load_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace xtape
