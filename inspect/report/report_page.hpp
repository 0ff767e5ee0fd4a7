// The report of a run: one self-contained HTML file.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <string>

namespace xtape {

/// The page as HTML; docs/report.md describes it.
std::string report_page(const RunData& run, const std::vector<Verdict>& verdicts);

/// The data of the page's charts, as one JSON object.
std::string report_json(const RunData& run, const std::vector<Verdict>& verdicts);

}  // namespace xtape
