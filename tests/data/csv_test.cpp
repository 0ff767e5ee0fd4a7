#include <xtape/data/csv.hpp>

#include "support.hpp"

using namespace xtape;
using namespace xtape::test;

namespace {

std::vector<std::string> row_of(const CsvTable& table, std::size_t row) {
  std::vector<std::string> out;
  for (index_t column = 0; column < table.columns(); ++column) out.emplace_back(table.field(row, column));
  return out;
}

using Fields = std::vector<std::string>;

}  // namespace

TEST_CASE("csv: rows, columns and names, whatever ends the lines") {
  for (const std::string text : {"a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n",
                                 "\xEF\xBB\xBF"
                                 "a,b\n1,2\n3,4"}) {
    const CsvTable table(text, "file");
    CHECK(table.rows() == 2);
    CHECK(table.columns() == 2);
    CHECK(table.column("b") == 1);
    CHECK(row_of(table, 1) == Fields{"3", "4"});
    CHECK(table.numbers("b") == std::vector<double>{2, 4});
  }
  const CsvTable bare("1;2\n", "file", {.header = false, .separator = ';'});
  CHECK(row_of(bare, 0) == Fields{"1", "2"});
  check_throws<FileError>([&] { bare.column("a"); }, "there is no column 'a'; the table has no header");
  CHECK(CsvTable("a\n", "file").rows() == 0);
}

TEST_CASE("csv: quoted fields") {
  const CsvTable table("a,b\n\"1\",2\n\"x,\"\"y\"\"\",\"two\nlines\"\n,\"\"\n", "file");
  REQUIRE(table.rows() == 3);
  CHECK(row_of(table, 0) == Fields{"1", "2"});
  CHECK(row_of(table, 1) == Fields{"x,\"y\"", "two\nlines"});
  CHECK(row_of(table, 2) == Fields{"", ""});
  check_throws<FileError>([&] { table.number(2, 0); },
                          "file:5: column 1 (a): expected a number, got ''");  // after two lines
}

TEST_CASE("csv: what is not a table says in which line") {
  const std::vector<std::pair<std::string, const char*>> table = {
      {"", "file:1: the table is empty"},
      {"\xEF\xBB\xBF", "file:1: the table is empty"},
      {"a,b\n1,2\n\n3,4\n", "file:3: the line is blank"},
      {"a,b\n1,2\n3\n", "file:3: expected 2 fields, got 1"},
      {"a,b\n1,2\n3,4,5\n", "file:3: expected 2 fields, got 3"},
      {"a,b\n1,2\n3,4\n\n", "file:4: the line is blank"},
      {"a,b\n1,2\"\n", "file:2: there is a quote inside a field"},
      {"a,b\n\"1\"x,2\n", "file:2: there is text after a quoted field"},
      {"a,b\n1,\"2\n3,4\n", "file:2: a quoted field has no end"},
      {"a,b\r1,2\r", "file:1: there is a carriage return without a line feed"},
      {"a,a\n1,2\n", "file:1: the header has 'a' twice"},
  };
  for (const auto& [text, message] : table) check_throws<FileError>([&t = text] { CsvTable(t, "file"); }, message);
}

TEST_CASE("csv: numbers are read whole or not at all") {
  const CsvTable table("x\n1\n-2.5e3\n2x\n 3\nnan\n1e999\n0x10\n+-1\n\x01\n", "file");
  CHECK(table.number(0, 0) == 1);
  CHECK(table.number(1, 0) == -2500);
  for (index_t row = 2; row < table.rows(); ++row)
    check_throws<FileError>([&] { table.number(row, 0); },
                            "file:" + std::to_string(row + 2) + ": column 1 (x): expected a number, got '");
  check_throws<FileError>([&] { table.numbers("x"); }, "file:4: column 1 (x): expected a number, got '2x'");
  check_throws<FileError>([&] { table.number(8, 0); }, "expected a number, got '?'");
  CHECK(table.integer(0, 0, 0, 1) == 1);
  check_throws<FileError>([&] { table.integer(0, 0, 2, 9); }, "expected a whole number from 2 to 9, got '1'");
  check_throws<FileError>([&] { table.integer(1, 0, -9999, 9); }, "got '-2.5e3'");
  check_throws<FileError>([&] { table.column("y"); }, "there is no column 'y' but 'x'");
  check_throws<IndexError>([&] { table.field(9, 0); }, "a column below 1, got 9 and 0");
  check_throws<IndexError>([&] { table.field(0, 1); },
                           "[csv] expected a row below 9 and a column below 1, got 0 and 1");
  // A header row where none was announced is no number.
  check_throws<FileError>([] { CsvTable("x\n1\n", "file", {.header = false}).numbers(std::size_t{0}); },
                          "file:1: column 1: expected a number, got 'x'");
}
