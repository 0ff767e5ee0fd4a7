// Verdicts as HTML.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <string>

namespace xtape {

/// The sign of a finding, as inline SVG of 16 px: its shape tells it apart without colour.
std::string finding_icon(Finding finding);

/// Problems in full, then what is fine in short, then what was not measured.
std::string verdicts_html(const std::vector<Verdict>& verdicts);

}  // namespace xtape
