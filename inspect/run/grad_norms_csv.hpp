// Rows of grad_norms.csv, written and read. docs/run_folder.md has the columns.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xtape {

constexpr const char* kGradNormsHeader = "step,kind,name,t,value\n";

/// One row with its line end. A negative `time` leaves the column t empty. Kind and name are quoted where CSV (RFC
/// 4180) requires it.
std::string grad_norms_row(index_t step, const std::string& kind, const std::string& name, double value,
                           index_t time = -1);

/// All rows of a step.
std::string grad_norms_rows(const StepRecord& record);

/// The step of a row; nothing for the heading.
std::optional<index_t> step_of_csv_row(std::string_view row);

/// Adds a row to the steps that the rows before it gave, for runs whose metrics.jsonl is lost. Only the norms are
/// filled in. A row of another format, such as the heading, adds nothing.
void add_norms_row(std::vector<StepRecord>& steps, std::string_view row);

}  // namespace xtape
