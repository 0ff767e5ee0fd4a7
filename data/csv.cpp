#include <xtape/core/error.hpp>
#include <xtape/core/number_text.hpp>
#include <xtape/data/csv.hpp>
#include <xtape/data/gzip.hpp>
#include <xtape/data/utf8.hpp>

#include <algorithm>
#include <cmath>

namespace xtape {

namespace {

/// A field for a message: shortened, without control characters.
std::string shown(std::string_view field) {
  std::string out(field.substr(0, 40));
  std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  return "'" + out + (field.size() > 40 ? "..." : "") + "'";
}

}  // namespace

/// Splits the text into fields. Quoted fields are unescaped in place.
class CsvTable::Reader {
 public:
  Reader(const std::string& name, std::string& text, char separator)
      : name_(name),
        text_(text),
        separator_(separator),
        position_(text.size() - without_byte_order_mark(text).size()) {}

  bool at_end() const { return position_ == text_.size(); }
  std::size_t line() const { return line_; }

  /// Appends the fields of a row.
  void read_row(std::vector<std::string_view>& fields) {
    const std::size_t row_line = line_, before = fields.size();
    for (bool more = true; more;) {
      fields.push_back(starts_with('"') ? quoted() : plain());
      more = accept_separator();
    }
    if (fields.size() - before == 1 && fields.back().empty()) fail(row_line, "the line is blank");
    end_row();
  }

  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw FileError("csv", name_ + ":" + std::to_string(line) + ": " + what);
  }

 private:
  bool starts_with(char c) const { return position_ < text_.size() && text_[position_] == c; }

  bool at_row_end() const {
    return at_end() || starts_with('\n') || (starts_with('\r') && text_.compare(position_, 2, "\r\n") == 0);
  }

  bool accept_separator() {
    const bool there = starts_with(separator_);
    position_ += there;
    return there;
  }

  void end_row() {
    if (!at_row_end()) fail(line_, "there is text after a quoted field");
    if (starts_with('\r')) ++position_;
    if (!at_end()) ++position_, ++line_;
  }

  std::string_view plain() {
    const std::size_t start = position_;
    for (; !at_row_end() && !starts_with(separator_); ++position_) {
      if (starts_with('"')) fail(line_, "there is a quote inside a field that does not begin with one");
      if (starts_with('\r')) fail(line_, "there is a carriage return without a line feed");
    }
    return std::string_view(text_).substr(start, position_ - start);
  }

  std::string_view quoted() {
    const std::size_t opened = line_, start = ++position_;
    std::size_t end = start;  // of the unescaped text
    for (;; ++position_) {
      if (at_end()) fail(opened, "a quoted field has no end");
      if (starts_with('"') && text_.compare(position_, 2, "\"\"") != 0) break;
      if (starts_with('"')) ++position_;
      if (starts_with('\n')) ++line_;
      text_[end++] = text_[position_];
    }
    ++position_;
    return std::string_view(text_).substr(start, end - start);
  }

  const std::string& name_;
  std::string& text_;
  char separator_;
  std::size_t position_, line_ = 1;
};

CsvTable::CsvTable(std::string text, std::string name, const CsvOptions& options)
    : name_(std::move(name)), text_(std::move(text)) {
  Reader reader(name_, text_, options.separator);
  if (reader.at_end()) reader.fail(1, "the table is empty");
  // Separators and line ends bound the number of fields: one allocation.
  const auto ends = std::count(text_.begin(), text_.end(), '\n');
  fields_.reserve(std::count(text_.begin(), text_.end(), options.separator) + ends + 1);
  lines_.reserve(ends + 1);
  if (options.header) {
    reader.read_row(header_);
    std::vector<std::string_view> names = header_;
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) reader.fail(1, "the header has " + shown(*twice) + " twice");
  }
  columns_ = std::ssize(header_);
  while (!reader.at_end()) {
    const std::size_t line = reader.line();
    const index_t before = std::ssize(fields_);
    reader.read_row(fields_);
    const index_t got = std::ssize(fields_) - before;
    if (columns_ == 0) columns_ = got;
    if (got != columns_) reader.fail(line, expected_got(std::to_string(columns_) + " fields", got));
    lines_.push_back(line);
  }
}

index_t CsvTable::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found != header_.end()) return found - header_.begin();
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(header_.size(), 8); ++i)
    names += (names.empty() ? "" : ", ") + shown(header_[i]);
  throw FileError("csv", name_ + ": there is no column " + shown(name) +
                             (names.empty() ? "; the table has no header" : " but " + names));
}

std::string_view CsvTable::field(index_t row, index_t column) const {
  if (row < 0 || row >= rows() || column < 0 || column >= columns_)
    throw IndexError("csv", "a row below " + std::to_string(rows()) + " and a column below " + std::to_string(columns_),
                     row, column);
  return fields_[row * columns_ + column];
}

double CsvTable::number(index_t row, index_t column) const {
  const std::optional<double> value = read_number(field(row, column));
  if (!value || !std::isfinite(*value)) fail(row, column, expected_got("a number", shown(field(row, column))));
  return *value;
}

std::vector<double> CsvTable::numbers(index_t column) const {
  std::vector<double> out(rows());
  for (index_t row = 0; row < rows(); ++row) out[row] = number(row, column);
  return out;
}

std::int64_t CsvTable::integer(index_t row, index_t column, std::int64_t low, std::int64_t high) const {
  const std::optional<std::int64_t> value = read_integer<std::int64_t>(field(row, column));
  if (!value || *value < low || *value > high)
    fail(row, column,
         expected_got("a whole number from " + std::to_string(low) + " to " + std::to_string(high),
                      shown(field(row, column))));
  return *value;
}

void CsvTable::fail(index_t row, index_t column, const std::string& what) const {
  const std::string title = header_.empty() ? "" : " (" + std::string(header_[column]) + ")";
  throw FileError("csv", name_ + ":" + std::to_string(lines_[row]) + ": column " + std::to_string(column + 1) + title +
                             ": " + what);
}

CsvTable load_csv(const std::string& path, const CsvOptions& options) { return {read_unpacked(path), path, options}; }

}  // namespace xtape
