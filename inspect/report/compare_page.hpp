// The comparison of several runs: one HTML file.
#pragma once

#include <xtape/inspect/report/comparison.hpp>

#include <string>

namespace xtape {

/// The page; docs/report.md says what stands in it.
std::string compare_page(const Comparison& comparison);

/// What the scripts of the page draw, as one JSON object.
std::string compare_json(const Comparison& comparison);

}  // namespace xtape
