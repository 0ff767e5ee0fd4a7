// Verdicts as HTML.
#pragma once

#include <xtape/inspect/verdicts/verdicts.hpp>

#include <string>

namespace xtape {

/// The icon of a finding as inline SVG of 16 px. The shapes differ, so color is not needed.
std::string finding_icon(Finding finding);

/// Problems with evidence and remedy, then a short list of what is fine, then what was not measured.
std::string verdicts_html(const std::vector<Verdict>& verdicts);

}  // namespace xtape
