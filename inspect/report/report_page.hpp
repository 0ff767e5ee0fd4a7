// The report of a run: one HTML file that needs nothing else.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <string>

namespace xtape {

/// The page; docs/report.md says what stands in it.
std::string report_page(const RunData& run, const std::vector<Verdict>& verdicts);

/// What the scripts of the page draw, as one JSON object.
std::string report_json(const RunData& run, const std::vector<Verdict>& verdicts);

}  // namespace xtape
