// The HTML frame of a page.
#pragma once

#include <string>

namespace xtape {

struct PageParts {
  std::string title;  ///< plain text; the other members are HTML
  std::string facts = {}, headline = {}, lede = {};
  std::string before_charts = {}, after_charts = {}, footer = {};
  std::string data = {};  ///< JSON
};

/// The page with its style, its scripts and Chart.js inlined. The data are escaped, so that they cannot end their
/// script.
std::string html_page(const PageParts& parts);

}  // namespace xtape
