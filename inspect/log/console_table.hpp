// ConsoleTable: the lines of a run on the console. A column is shown from the first line that has a number for it.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <optional>
#include <string>
#include <vector>

namespace xtape {

class ConsoleTable {
 public:
  /// The line of a logged step, after a heading if it is the first line or has a new column.
  std::string lines(const StepRecord& record);

 private:
  struct Column {
    std::string name;
    const char* format;
    std::size_t width;
    std::optional<double> value = {};
  };

  void set(const std::string& name, const char* format, std::optional<double> value);

  std::vector<Column> columns_;
  std::ptrdiff_t next_ = 0;  // where a new column goes
  std::size_t named_ = 0;    // columns of the last heading
};

}  // namespace xtape
