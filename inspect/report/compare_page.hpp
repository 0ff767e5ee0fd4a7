// The page that compares several runs: one HTML file.
#pragma once

#include <xtape/inspect/report/comparison.hpp>

#include <string>

namespace xtape {

/// The page as HTML; docs/report.md describes it.
std::string compare_page(const Comparison& comparison);

/// The data of the page's charts, as one JSON object.
std::string compare_json(const Comparison& comparison);

}  // namespace xtape
