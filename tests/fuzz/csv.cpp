// CSV tables: reads every field as text and as a number.
#include "fuzz.hpp"

#include <xtape/core/error.hpp>
#include <xtape/data/csv.hpp>

namespace xtape::fuzz {

// A field takes 16 bytes in memory and may be as short as one separator.
std::size_t largest_allocation(std::string_view input) { return (64 << 10) + 33 * input.size(); }

void try_input(std::string_view input) {
  if (input.empty()) return;
  const bool header = (input.front() & 1) != 0;
  const CsvTable table(std::string(input.substr(1)), "input", {.header = header});
  std::size_t characters = 0;
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t column = 0; column < table.columns(); ++column) {
      characters += table.field(row, column).size();
      try {
        table.number(row, column);
        table.integer(row, column, -9, 9);
      } catch (const FileError&) {
      }
    }
  if (characters > input.size()) fault("the fields are longer than the file");
}

}  // namespace xtape::fuzz
