// Reading grad_norms.csv, for runs whose metrics.jsonl is lost.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <string_view>
#include <vector>

namespace xtape {

/// The steps that the rows tell of, with the norms that they have. Rows that are not of the format are passed over.
std::vector<StepRecord> steps_of_norms(std::string_view csv);

}  // namespace xtape
