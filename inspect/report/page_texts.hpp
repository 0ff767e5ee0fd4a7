// The files of inspect/report/web and Chart.js, embedded at build time.
#pragma once

#include <string_view>

namespace xtape::page_texts {

extern const std::string_view frame, style, script, chart_js;

}  // namespace xtape::page_texts
