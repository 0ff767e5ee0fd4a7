// The files of inspect/report/page and Chart.js, put into the program when it is built.
#pragma once

#include <string_view>

namespace xtape::page_texts {

extern const std::string_view frame, style, script, chart_js;

}  // namespace xtape::page_texts
